//go:build cgo

#include "media_native.h"
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <math.h>
#include <string.h>

static const AVRational US = {1, 1000000};

int rt_decoder(RtDecoder *d, RtReader *r, AVCodecContext *cc, int stream) {
  *d = (RtDecoder){.r = r, .cc = cc, .stream = stream, .first_dts = INT64_MIN, .last_key = INT64_MIN};
  for (int i = 0; i < RT_RING; i++)
    if (!(d->ring[i] = av_packet_alloc()))
      return AVERROR(ENOMEM);
  switch (cc->codec_id) { // codecs whose decoders leave such frames out without harm to the others
  case AV_CODEC_ID_H264:
  case AV_CODEC_ID_HEVC:
  case AV_CODEC_ID_MPEG2VIDEO:
    d->skip = 1;
  default:
    break;
  }
  cc->pkt_timebase = r->fc->streams[stream]->time_base;
  return 0;
}

int rt_seek(RtDecoder *d, int64_t us) {
  AVStream *st = d->r->fc->streams[d->stream];
  int ret = av_seek_frame(d->r->fc, d->stream, av_rescale_q(us, US, st->time_base), AVSEEK_FLAG_BACKWARD);
  if (ret < 0)
    return ret;
  for (int i = 0; i < RT_RING; i++)
    av_packet_unref(d->ring[i]);
  d->head = d->len = d->eof = d->draining = d->nsent = 0;
  d->last_key = INT64_MIN;
  avcodec_flush_buffers(d->cc);
  return 0;
}

static int64_t packet_us(RtDecoder *d, AVPacket *p) {
  return p->pts == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(p->pts, d->r->fc->streams[d->stream]->time_base, US);
}

// fill keeps the ring full of packets of the stream: of key frames alone where
// only they are wanted, and then no further than to the first one behind the
// stretch.
static void fill(RtDecoder *d) {
  while (d->len < (d->keys ? 2 : RT_RING) && !d->eof) {
    AVPacket *p = d->ring[(d->head + d->len) % RT_RING];
    if (rt_read(d->r, p) < 0)
      d->eof = 1;
    else if (p->stream_index == d->stream && (!d->keys || p->flags & AV_PKT_FLAG_KEY)) {
      d->len++;
      d->eof = d->keys && packet_us(d, p) >= d->to;
    } else
      av_packet_unref(p);
  }
}

// wanted_in tells whether a wanted time lies in (after, upto].
static int wanted_in(RtDecoder *d, double after, double upto) {
  double k = floor((after - d->from) / d->step) + 1, want = d->from + (k < 0 ? 0 : k) * d->step;
  return want <= upto && want < d->to;
}

// far tells whether the key frame at the head is the nearest to none of the
// wanted times. Anything unsure is near.
static int far(RtDecoder *d, AVPacket *p) {
  int64_t t = packet_us(d, p), before = d->last_key;
  int64_t next = d->len > 1 ? packet_us(d, d->ring[(d->head + 1) % RT_RING]) : INT64_MAX;
  if (t == INT64_MIN || next == INT64_MIN)
    return 0;
  // The end of the file is not known: the last one counts as far as the one before it did.
  double after = before == INT64_MIN ? -INFINITY : (before + t) / 2.0;
  double upto = next != INT64_MAX ? (t + next) / 2.0 : before != INT64_MIN ? t + (t - before) / 2.0 : t;
  return !wanted_in(d, after, upto);
}

// unwanted tells whether the packet at the head shows at none of the wanted
// times: none of them lies between it and the packet shown next. Anything
// unsure is wanted.
static int unwanted(RtDecoder *d, AVPacket *p) {
  int64_t t = packet_us(d, p), next = INT64_MAX;
  if (!d->skip || t == INT64_MIN || (p->flags & AV_PKT_FLAG_KEY))
    return 0;
  for (int i = 1; i < d->len; i++) {
    int64_t o = packet_us(d, d->ring[(d->head + i) % RT_RING]);
    if (o == INT64_MIN)
      return 0;
    if (o > t && o < next)
      next = o;
  }
  for (int i = 0; i < d->nsent; i++)
    if (d->sent[i] > t && d->sent[i] < next)
      next = d->sent[i];
  if (next == INT64_MAX)
    return 0;
  double k = ceil((t - d->tol - d->from) / d->step - 1e-9);
  if (k < 0)
    k = 0;
  double want = d->from + k * d->step;
  return want >= d->to || want + d->tol >= next + 1; // 1 us: rounding of time bases
}

static int feed(RtDecoder *d) {
  fill(d);
  if (d->len == 0) {
    d->draining = 1;
    return avcodec_send_packet(d->cc, NULL);
  }
  AVPacket *p = d->ring[d->head];
  if (!d->decoded && d->first_dts == INT64_MIN && (p->flags & AV_PKT_FLAG_KEY) && p->pts == AV_NOPTS_VALUE && p->dts != AV_NOPTS_VALUE)
    d->first_dts = av_rescale_q(p->dts, d->r->fc->streams[d->stream]->time_base, US);
  int drop = d->keys ? far(d, p) : unwanted(d, p);
  d->cc->skip_frame = drop ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
  d->skipped += drop;
  int64_t t = packet_us(d, p);
  if (t != INT64_MIN && p->flags & AV_PKT_FLAG_KEY) {
    if (d->last_key != INT64_MIN && t - d->last_key > d->key_step)
      d->key_step = t - d->last_key;
    d->last_key = t;
  }
  if (t != INT64_MIN) {
    if (d->nsent == RT_RING)
      memmove(d->sent, d->sent + 1, --d->nsent * sizeof *d->sent);
    d->sent[d->nsent++] = t;
  }
  int ret = d->keys && drop ? 0 : avcodec_send_packet(d->cc, p);
  if (ret == AVERROR(EAGAIN))
    return ret; // cannot be: output was drained before
  av_packet_unref(p);
  d->head = (d->head + 1) % RT_RING;
  d->len--;
  return ret;
}

typedef struct {
  const uint8_t *data;
  ptrdiff_t line;
  int step, sx, sy, w, h; // step of a value, of the grid, and the plane's size
} Grid;

// count adds the plane's grid points to bins of 2^bits values. A value is
// shared between its bin and the next one, so a slow fade moves the histogram
// slowly. Returns the weight of all points.
static uint32_t count(const Grid *g, int shift, int depth, int bits, int bins, uint32_t *n) {
  uint32_t all = 0, mask = (1 << bits) - 1;
  int wide = depth + shift > 8, down = depth > 8 ? depth - 8 : 0;
  for (int y = g->sy / 2; y < g->h; y += g->sy) {
    const uint8_t *row = g->data + y * g->line;
    for (int x = g->sx / 2; x < g->w; x += g->sx) {
      const uint8_t *at = row + (ptrdiff_t)x * g->step;
      uint32_t v = wide ? ((at[0] | at[1] << 8) >> shift >> down) & 255 : at[0] >> shift;
      uint32_t b = v >> bits, part = v & mask;
      n[b] += mask + 1 - part;
      n[b + 1 < (uint32_t)bins ? b + 1 : b] += part;
      all += mask + 1;
    }
  }
  return all;
}

// histogram looks at a grid of about 128 x 72 points of each plane.
static void histogram(const AVFrame *f, float *hist) {
  const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(f->format);
  memset(hist, 0, RT_BINS * sizeof *hist);
  if (!desc || (desc->flags & (AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BE)))
    return;
  int pal = !!(desc->flags & AV_PIX_FMT_FLAG_PAL), comps = desc->nb_components >= 3 ? 3 : 1, at = 0;
  for (int c = 0; c < comps; c++) {
    const AVComponentDescriptor *cd = &desc->comp[c];
    int chroma = c > 0 && !(desc->flags & AV_PIX_FMT_FLAG_RGB), bins = c ? RT_BINS / 4 : RT_BINS / 2;
    uint32_t n[RT_BINS] = {0};
    Grid g = {f->data[cd->plane] + cd->offset, f->linesize[cd->plane], cd->step, 1, 1,
              chroma ? AV_CEIL_RSHIFT(f->width, desc->log2_chroma_w) : f->width,
              chroma ? AV_CEIL_RSHIFT(f->height, desc->log2_chroma_h) : f->height};
    g.sx = FFMAX(1, g.w / 128), g.sy = FFMAX(1, g.h / 72);
    uint32_t all = count(&g, pal ? 0 : cd->shift, pal ? 8 : cd->depth, c ? 4 : 3, bins, n);
    for (int i = 0; all && i < bins; i++)
      hist[at + i] = (float)n[i] / all;
    at += bins;
  }
}

static void describe(RtDecoder *d, AVFrame *f, RtFrame *o) {
  AVStream *st = d->r->fc->streams[d->stream];
  int64_t t = f->best_effort_timestamp;
  *o = (RtFrame){
      .us = t == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(t, st->time_base, US),
      .dur = f->pkt_duration > 0 ? av_rescale_q(f->pkt_duration, st->time_base, US) : 0,
      .width = f->width, .height = f->height, .format = f->format,
      .interlaced = f->interlaced_frame, .transfer = f->color_trc,
      .sar = av_guess_sample_aspect_ratio(d->r->fc, st, f),
  };
  histogram(f, o->hist);
}

// rt_next decodes on to the next frame in display order. AVERROR_EOF at the
// end; other errors only when 1000 packets in a row cannot be decoded.
int rt_next(RtDecoder *d, AVFrame *frame, RtFrame *out) {
  for (;;) {
    int ret = avcodec_receive_frame(d->cc, frame);
    if (ret >= 0) {
      d->errors = 0;
      d->decoded++;
      describe(d, frame, out);
      return 0;
    }
    if (ret == AVERROR_EOF || (ret == AVERROR(EAGAIN) && d->draining))
      return AVERROR_EOF;
    if (ret == AVERROR(EAGAIN))
      ret = feed(d);
    if (ret < 0 && ret != AVERROR_EOF && (ret == AVERROR(ENOMEM) || ++d->errors > 1000))
      return ret;
  }
}

// rt_dhash compares neighbours in a 9 x 8 grid of mean luma values.
uint64_t rt_dhash(const AVFrame *f) {
  uint64_t hash = 0;
  for (int gy = 0; gy < 8; gy++) {
    int mean[9];
    for (int gx = 0; gx < 9; gx++) {
      int x0 = f->width * gx / 9, x1 = FFMAX(x0 + 1, f->width * (gx + 1) / 9);
      int y0 = f->height * gy / 8, y1 = FFMAX(y0 + 1, f->height * (gy + 1) / 8);
      int64_t sum = 0;
      for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
          sum += f->data[0][(ptrdiff_t)y * f->linesize[0] + x];
      mean[gx] = (int)(sum * 16 / ((int64_t)(x1 - x0) * (y1 - y0)));
    }
    for (int gx = 0; gx < 8; gx++)
      hash = hash << 1 | (mean[gx] > mean[gx + 1]);
  }
  return hash;
}
