//go:build cgo

#include "media_native.h"
#include <errno.h>
#include <libavutil/display.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
#include <math.h>
#include <unistd.h>

static const AVRational US = {1, 1000000};

typedef struct {
  int fd;
  int64_t at, size;
} RtFile;

// The offset is our own: the descriptor may be shared with other readers.
static int file_read(void *opaque, uint8_t *buf, int n) {
  RtFile *f = opaque;
  ssize_t got;
  do
    got = pread(f->fd, buf, n, f->at);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return AVERROR(errno);
  if (got == 0)
    return AVERROR_EOF;
  f->at += got;
  return (int)got;
}

static int64_t file_seek(void *opaque, int64_t offset, int whence) {
  RtFile *f = opaque;
  switch (whence & ~AVSEEK_FORCE) {
  case AVSEEK_SIZE:
    return f->size;
  case SEEK_SET:
    break;
  case SEEK_CUR:
    offset += f->at;
    break;
  case SEEK_END:
    offset += f->size;
    break;
  default:
    return AVERROR(EINVAL);
  }
  if (offset < 0)
    return AVERROR(EINVAL);
  return f->at = offset;
}

AVIOContext *rt_io(int fd, int64_t size) {
  const int n = 128 << 10;
  RtFile *f = av_mallocz(sizeof *f);
  uint8_t *buf = av_malloc(n);
  if (!f || !buf)
    return NULL;
  f->fd = fd;
  f->size = size;
  // One block: a header must not make FFmpeg allocate more than a picture needs.
  av_max_alloc(192 << 20);
  return avio_alloc_context(buf, n, 0, f, file_read, NULL, file_seek);
}

void rt_attach(AVFormatContext *fc, AVIOContext *io) { fc->pb = io; }

// rt_first is the C object of a binding's wrapper, which holds it as first field.
void *rt_first(void *wrapper) { return *(void **)wrapper; }

int rt_find_info(AVFormatContext *fc, int64_t max_pixels) {
  // One dictionary a stream; the binding hands over a single one.
  int n = fc->nb_streams;
  AVDictionary **opts = av_calloc(n + 1, sizeof *opts);
  if (!opts)
    return AVERROR(ENOMEM);
  for (int i = 0; i < n; i++) {
    av_dict_set_int(&opts[i], "max_pixels", max_pixels, 0);
    av_dict_set(&opts[i], "threads", "1", 0);
  }
  int ret = avformat_find_stream_info(fc, opts);
  for (int i = 0; i < n; i++)
    av_dict_free(&opts[i]);
  av_free(opts);
  return ret;
}

static double rotation(AVStream *st) {
  size_t size = 0;
  uint8_t *m = av_stream_get_side_data(st, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (!m || size < 9 * 4)
    return 0;
  double angle = av_display_rotation_get((const int32_t *)m);
  return isfinite(angle) ? -angle : 0; // all zeros give NaN
}

void rt_stream(AVFormatContext *fc, int i, RtStream *o) {
  AVStream *st = fc->streams[i];
  AVCodecParameters *p = st->codecpar;
  AVRational sar = av_guess_sample_aspect_ratio(fc, st, NULL);
  AVRational fps = st->avg_frame_rate.num > 0 && st->avg_frame_rate.den > 0 ? st->avg_frame_rate : st->r_frame_rate;
  *o = (RtStream){
      .type = p->codec_type, .codec_id = p->codec_id, .disposition = st->disposition,
      .width = p->width, .height = p->height, .channels = p->ch_layout.nb_channels, .rate = p->sample_rate,
      .sar = sar.num > 0 && sar.den > 0 ? av_q2d(sar) : 1,
      .fps = fps.num > 0 && fps.den > 0 ? av_q2d(fps) : 0,
      .rotation = rotation(st), .frames = st->nb_frames,
      .codec = avcodec_get_name(p->codec_id), .metadata = st->metadata,
  };
}

// rt_end_us is the duration the header claims; guesses from a bit rate or from
// the last packets do not count.
int64_t rt_end_us(AVFormatContext *fc) {
  if (fc->duration == AV_NOPTS_VALUE || fc->duration_estimation_method != AVFMT_DURATION_FROM_STREAM || !!(fc->iformat->flags & AVFMT_TS_DISCONT))
    return 0;
  return fc->duration;
}

int rt_chapter(AVFormatContext *fc, int i, int64_t *start, int64_t *end, AVDictionary **metadata) {
  if (i < 0 || (unsigned)i >= fc->nb_chapters)
    return 0;
  AVChapter *c = fc->chapters[i];
  *start = av_rescale_q(c->start, c->time_base, US);
  *end = c->end == AV_NOPTS_VALUE ? *start : av_rescale_q(c->end, c->time_base, US);
  *metadata = c->metadata;
  return 1;
}

void rt_reader(RtReader *r, AVFormatContext *fc) {
  *r = (RtReader){.fc = fc, .mend = !!(fc->iformat->flags & AVFMT_TS_DISCONT)};
  for (int i = 0; i < RT_STREAMS; i++)
    r->clock[i].last = INT64_MIN;
}

// mend moves the times of a packet behind a clock jump on, so that the stream
// plays without a hole. The first stream that jumps sets the shift, the others
// follow it where it fits them.
static void mend(RtReader *r, AVPacket *p, AVStream *st) {
  int type = st->codecpar->codec_type;
  if (!r->mend || p->stream_index >= RT_STREAMS)
    return;
  RtClock *c = &r->clock[p->stream_index];
  int64_t raw = p->dts != AV_NOPTS_VALUE ? p->dts : p->pts;
  if (raw == AV_NOPTS_VALUE)
    return;
  raw = av_rescale_q(raw, st->time_base, US);
  if (type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO) {
    int64_t v = raw + c->off, want = c->last == INT64_MIN ? v : c->last + c->dur;
    int jump = v < want - 1000000 || v > want + 10000000;
    for (int i = 0; jump && v > want && i < RT_STREAMS; i++) // the others are there already: a real hole
      jump = i == p->stream_index || r->clock[i].last == INT64_MIN || llabs(v - r->clock[i].last) > 5000000;
    if (jump) {
      int64_t off = want - raw;
      for (int i = 0; i < RT_STREAMS; i++)
        if (r->clock[i].off != c->off && llabs(raw + r->clock[i].off - want) < 2000000)
          off = r->clock[i].off;
      c->off = off;
      v = raw + off;
    }
    c->last = v;
    c->dur = p->duration > 0 ? FFMIN(av_rescale_q(p->duration, st->time_base, US), 1000000) : 0;
  } else {
    for (int i = 0; i < RT_STREAMS; i++)
      if (r->clock[i].last != INT64_MIN)
        c->off = r->clock[i].off;
  }
  int64_t off = av_rescale_q(c->off, US, st->time_base);
  if (p->pts != AV_NOPTS_VALUE)
    p->pts += off;
  if (p->dts != AV_NOPTS_VALUE)
    p->dts += off;
}

// rt_read reads one packet past up to 50 damaged places in a row.
int rt_read(RtReader *r, AVPacket *pkt) {
  for (int tries = 0;; tries++) {
    int ret = av_read_frame(r->fc, pkt);
    __atomic_fetch_add(&r->packets, 1, __ATOMIC_RELAXED);
    if (ret >= 0) {
      mend(r, pkt, r->fc->streams[pkt->stream_index]);
      return 0;
    }
    if (ret == AVERROR_EOF)
      return ret;
    if (ret != AVERROR(EAGAIN))
      r->fault = ret;
    if (tries >= 50 || avio_feof(r->fc->pb))
      return ret;
  }
}

static int64_t us(int64_t t, AVStream *st) {
  return t == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(t, st->time_base, US);
}

static int64_t skipped_us(AVPacket *pkt, AVStream *st) {
  size_t size = 0;
  uint8_t *d = av_packet_get_side_data(pkt, AV_PKT_DATA_SKIP_SAMPLES, &size);
  if (!d || size < 10 || st->codecpar->sample_rate <= 0)
    return 0;
  return av_rescale(AV_RL32(d), 1000000, st->codecpar->sample_rate);
}

// rt_scan reads up to n packets into out. It returns early, with pkt still
// held, after a packet of a stream marked in stop (its data is wanted); with
// out full; at the end, when the last entry has stream -1. The result is the
// number of entries.
int rt_scan(RtReader *r, AVPacket *pkt, RtPacket *out, int n, const uint8_t *stop) {
  av_packet_unref(pkt);
  for (int i = 0; i < n; i++) {
    if (rt_read(r, pkt) < 0) {
      out[i] = (RtPacket){.stream = -1};
      return i + 1;
    }
    AVStream *st = r->fc->streams[pkt->stream_index];
    out[i] = (RtPacket){
        .stream = pkt->stream_index, .size = pkt->size,
        .key = !!(pkt->flags & AV_PKT_FLAG_KEY), .discard = !!(pkt->flags & AV_PKT_FLAG_DISCARD),
        .corrupt = !!(pkt->flags & AV_PKT_FLAG_CORRUPT),
        .pts = us(pkt->pts, st), .dts = us(pkt->dts, st), .dur = us(FFMAX(pkt->duration, 0), st),
        .skip = skipped_us(pkt, st),
    };
    if (pkt->stream_index < RT_STREAMS && stop[pkt->stream_index])
      return i + 1;
    av_packet_unref(pkt);
  }
  return n;
}

// rt_only leaves one stream on, or two.
void rt_only(AVFormatContext *fc, int stream, int other) {
  for (unsigned i = 0; i < fc->nb_streams; i++)
    fc->streams[i]->discard = (int)i == stream || (int)i == other ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
}
