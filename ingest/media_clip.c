//go:build cgo

#include "media_native.h"
#include <libavutil/audio_fifo.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <string.h>

static const AVRational US = {1, 1000000}, VIDEO_BASE = {1, 90000};
#define CLIP_RATE 48000

// Muxed bytes gather here until the caller takes them.
static int clip_write(void *opaque, uint8_t *data, int n) {
  RtClip *c = opaque;
  if (c->len + n > c->cap) {
    size_t cap = FFMAX(c->cap * 2, c->len + n);
    uint8_t *more = av_realloc(c->out_bytes, cap);
    if (!more)
      return AVERROR(ENOMEM);
    c->out_bytes = more;
    c->cap = cap;
  }
  memcpy(c->out_bytes + c->len, data, n);
  c->len += n;
  return n;
}

// rt_clip starts an MP4 file that is written without going back: fragments,
// with the index first (ISO/IEC 14496-12).
int rt_clip(RtClip *c) {
  *c = (RtClip){.video = -1, .audio = -1, .last_video = INT64_MIN};
  int ret = avformat_alloc_output_context2(&c->fc, NULL, "mp4", NULL);
  if (ret < 0)
    return ret;
  const int n = 32 << 10;
  uint8_t *buf = av_malloc(n);
  if (!buf || !(c->fc->pb = avio_alloc_context(buf, n, 1, c, NULL, clip_write, NULL)))
    return AVERROR(ENOMEM);
  c->fc->flags |= AVFMT_FLAG_CUSTOM_IO;
  c->frame = av_frame_alloc();
  c->pkt = av_packet_alloc();
  return c->frame && c->pkt ? 0 : AVERROR(ENOMEM);
}

// keep_turn copies the rotation, which players apply.
static int keep_turn(AVStream *to, AVStream *from) {
  size_t size = 0;
  uint8_t *m = av_stream_get_side_data(from, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (!m)
    return 0;
  uint8_t *copy = av_stream_new_side_data(to, AV_PKT_DATA_DISPLAYMATRIX, size);
  if (!copy)
    return AVERROR(ENOMEM);
  memcpy(copy, m, size);
  return 0;
}

static int add_encoder(RtClip *c, AVCodecContext *enc, AVDictionary **opts, int *index) {
  AVStream *st = avformat_new_stream(c->fc, NULL);
  if (!st)
    return AVERROR(ENOMEM);
  if (c->fc->oformat->flags & AVFMT_GLOBALHEADER)
    enc->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  int ret = avcodec_open2(enc, enc->codec, opts);
  if (ret < 0)
    return ret;
  st->time_base = enc->time_base;
  *index = st->index;
  return avcodec_parameters_from_context(st->codecpar, enc);
}

// rt_clip_video adds the encoded video stream for pictures of w x h.
int rt_clip_video(RtClip *c, AVStream *from, int w, int h) {
  const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
  if (!codec || !(c->venc = avcodec_alloc_context3(codec)))
    return AVERROR_ENCODER_NOT_FOUND;
  c->venc->width = w & ~1;
  c->venc->height = h & ~1;
  c->venc->pix_fmt = AV_PIX_FMT_YUV420P;
  c->venc->time_base = VIDEO_BASE;
  c->venc->sample_aspect_ratio = from->codecpar->sample_aspect_ratio;
  c->venc->max_b_frames = 0;
  c->venc->gop_size = 100;
  c->venc->thread_count = 1;
  AVDictionary *opts = NULL;
  av_dict_set(&opts, "preset", "veryfast", 0);
  av_dict_set(&opts, "crf", "20", 0);
  av_dict_set(&opts, "rc-lookahead", "10", 0);
  int ret = add_encoder(c, c->venc, &opts, &c->video);
  av_dict_free(&opts);
  if (ret >= 0)
    ret = keep_turn(c->fc->streams[c->video], from);
  return ret;
}

// rt_clip_audio adds the encoded audio stream.
int rt_clip_audio(RtClip *c) {
  const AVCodec *codec = avcodec_find_encoder_by_name("aac");
  if (!codec || !(c->aenc = avcodec_alloc_context3(codec)))
    return AVERROR_ENCODER_NOT_FOUND;
  c->aenc->sample_fmt = AV_SAMPLE_FMT_FLTP;
  c->aenc->sample_rate = CLIP_RATE;
  c->aenc->ch_layout = (AVChannelLayout)AV_CHANNEL_LAYOUT_STEREO;
  c->aenc->bit_rate = 128000;
  c->aenc->time_base = (AVRational){1, CLIP_RATE};
  int ret = add_encoder(c, c->aenc, NULL, &c->audio);
  if (ret >= 0 && !(c->fifo = av_audio_fifo_alloc(AV_SAMPLE_FMT_FLTP, 2, CLIP_RATE)))
    ret = AVERROR(ENOMEM);
  return ret;
}

// rt_clip_copy adds a stream whose packets are copied; it fails where MP4
// cannot hold the codec.
int rt_clip_copy(RtClip *c, AVStream *from, int *index) {
  if (avformat_query_codec(c->fc->oformat, from->codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 1)
    return AVERROR_MUXER_NOT_FOUND;
  if (from->codecpar->codec_id == AV_CODEC_ID_AAC && from->codecpar->extradata_size == 0)
    return AVERROR_MUXER_NOT_FOUND; // ADTS frames, as in MPEG-TS: the file's header cannot be written from them
  AVStream *st = avformat_new_stream(c->fc, NULL);
  if (!st)
    return AVERROR(ENOMEM);
  int ret = avcodec_parameters_copy(st->codecpar, from->codecpar);
  st->codecpar->codec_tag = 0;
  st->time_base = from->time_base;
  st->sample_aspect_ratio = from->sample_aspect_ratio;
  *index = st->index;
  return ret < 0 ? ret : keep_turn(st, from);
}

int rt_clip_begin(RtClip *c) {
  AVDictionary *opts = NULL;
  av_dict_set(&opts, "movflags", "frag_keyframe+delay_moov+default_base_moof", 0);
  int ret = avformat_write_header(c->fc, &opts);
  av_dict_free(&opts);
  c->begun = ret >= 0;
  return ret;
}

// drain writes what an encoder has ready.
static int drain(RtClip *c, AVCodecContext *enc, int stream) {
  for (;;) {
    int ret = avcodec_receive_packet(enc, c->pkt);
    if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
      return 0;
    if (ret < 0)
      return ret;
    av_packet_rescale_ts(c->pkt, enc->time_base, c->fc->streams[stream]->time_base);
    c->pkt->stream_index = stream;
    if ((ret = av_interleaved_write_frame(c->fc, c->pkt)) < 0)
      return ret;
  }
}

// rt_clip_picture encodes a decoded picture that is shown from us on.
int rt_clip_picture(RtClip *c, const AVFrame *f, int64_t us) {
  int64_t pts = av_rescale_q(us, US, VIDEO_BASE);
  if (pts <= c->last_video)
    return 0; // two pictures at one time: the first stays
  AVCodecContext *e = c->venc;
  c->sws = sws_getCachedContext(c->sws, f->width, f->height, f->format, e->width, e->height, e->pix_fmt, SWS_BICUBIC, NULL, NULL, NULL);
  if (!c->sws)
    return AVERROR(EINVAL);
  AVFrame *o = c->frame;
  av_frame_unref(o);
  o->width = e->width;
  o->height = e->height;
  o->format = e->pix_fmt;
  int ret = av_frame_get_buffer(o, 0);
  if (ret < 0)
    return ret;
  sws_scale(c->sws, (const uint8_t *const *)f->data, f->linesize, 0, f->height, o->data, o->linesize);
  o->pts = c->last_video = pts;
  if ((ret = avcodec_send_frame(e, o)) < 0)
    return ret;
  return drain(c, e, c->video);
}

// encode_audio encodes full frames of the fifo, at the end also the rest.
static int encode_audio(RtClip *c, int all) {
  AVCodecContext *e = c->aenc;
  while (av_audio_fifo_size(c->fifo) >= e->frame_size || (all && av_audio_fifo_size(c->fifo) > 0)) {
    AVFrame *o = c->frame;
    av_frame_unref(o);
    o->nb_samples = FFMIN(e->frame_size, av_audio_fifo_size(c->fifo));
    o->format = e->sample_fmt;
    o->sample_rate = e->sample_rate;
    int ret = av_channel_layout_copy(&o->ch_layout, &e->ch_layout);
    if (ret < 0 || (ret = av_frame_get_buffer(o, 0)) < 0)
      return ret;
    if (av_audio_fifo_read(c->fifo, (void **)o->data, o->nb_samples) < 0)
      return AVERROR(EINVAL);
    o->pts = c->encoded;
    c->encoded += o->nb_samples;
    if ((ret = avcodec_send_frame(e, o)) < 0 || (ret = drain(c, e, c->audio)) < 0)
      return ret;
  }
  return 0;
}

static int push_silence(RtClip *c, int64_t n) {
  static float zeros[4096];
  void *planes[2] = {zeros, zeros};
  for (int ret; n > 0; n -= 4096) {
    if ((ret = av_audio_fifo_write(c->fifo, planes, FFMIN(n, 4096))) < 0 || (ret = encode_audio(c, 0)) < 0)
      return ret;
  }
  return 0;
}

// rt_clip_sound encodes a decoded frame of sound that begins at us and takes
// what lies in [from, to), all on the clip's own timeline.
int rt_clip_sound(RtClip *c, const AVFrame *f, int64_t us, int64_t from, int64_t to) {
  AVChannelLayout in = f->ch_layout;
  if (in.order == AV_CHANNEL_ORDER_UNSPEC)
    av_channel_layout_default(&in, f->ch_layout.nb_channels);
  if (!c->swr || c->in_rate != f->sample_rate || c->in_format != f->format || c->in_channels != in.nb_channels) {
    swr_free(&c->swr);
    int ret = swr_alloc_set_opts2(&c->swr, &c->aenc->ch_layout, AV_SAMPLE_FMT_FLTP, CLIP_RATE, &in, f->format, f->sample_rate, 0, NULL);
    if (ret < 0 || (ret = swr_init(c->swr)) < 0)
      return ret;
    c->in_rate = f->sample_rate, c->in_format = f->format, c->in_channels = in.nb_channels;
  }
  us -= swr_get_delay(c->swr, 1000000);
  int room = swr_get_out_samples(c->swr, f->nb_samples);
  uint8_t *planes[2] = {NULL};
  int ret = av_samples_alloc(planes, NULL, 2, FFMAX(room, 1), AV_SAMPLE_FMT_FLTP, 0);
  if (ret < 0)
    return ret;
  int n = swr_convert(c->swr, planes, room, (const uint8_t **)f->extended_data, f->nb_samples);
  int64_t at = av_rescale(us, CLIP_RATE, 1000000), first = av_rescale(from, CLIP_RATE, 1000000), end = av_rescale(to, CLIP_RATE, 1000000);
  int64_t next = c->encoded + av_audio_fifo_size(c->fifo); // where the next sample of the clip stands
  int64_t skip = FFMAX(FFMAX(first, next) - at, 0), count = FFMIN(at + n, end) - at - skip;
  if (n > 0 && count > 0) {
    if (at + skip > next)
      ret = push_silence(c, at + skip - next);
    void *part[2] = {(float *)planes[0] + skip, (float *)planes[1] + skip};
    if (ret >= 0)
      ret = av_audio_fifo_write(c->fifo, part, count);
    if (ret >= 0)
      ret = encode_audio(c, 0);
  }
  av_freep(&planes[0]);
  return FFMIN(ret, 0);
}

// rt_clip_packet copies a packet, moved so that the clip's zero is at us.
int rt_clip_packet(RtClip *c, AVPacket *p, AVStream *from, int stream, int64_t us) {
  int64_t move = av_rescale_q(us, US, from->time_base);
  if (p->pts != AV_NOPTS_VALUE)
    p->pts -= move;
  if (p->dts != AV_NOPTS_VALUE)
    p->dts -= move;
  av_packet_rescale_ts(p, from->time_base, c->fc->streams[stream]->time_base);
  p->stream_index = stream;
  p->pos = -1;
  return av_interleaved_write_frame(c->fc, p);
}

// rt_clip_pad fills the sound up with silence to us.
int rt_clip_pad(RtClip *c, int64_t us) {
  int64_t next = c->encoded + av_audio_fifo_size(c->fifo);
  swr_free(&c->swr); // what it holds belongs to the part before
  return push_silence(c, av_rescale(us, CLIP_RATE, 1000000) - next);
}

int rt_clip_end(RtClip *c) {
  int ret = 0;
  if (c->venc && (ret = avcodec_send_frame(c->venc, NULL)) >= 0)
    ret = drain(c, c->venc, c->video);
  if (ret >= 0 && c->aenc && (ret = encode_audio(c, 1)) >= 0 && (ret = avcodec_send_frame(c->aenc, NULL)) >= 0)
    ret = drain(c, c->aenc, c->audio);
  if (ret >= 0 && c->begun)
    ret = av_write_trailer(c->fc);
  avio_flush(c->fc->pb);
  return ret;
}

void rt_clip_free(RtClip *c) {
  avcodec_free_context(&c->venc);
  avcodec_free_context(&c->aenc);
  sws_freeContext(c->sws);
  swr_free(&c->swr);
  if (c->fifo)
    av_audio_fifo_free(c->fifo);
  av_frame_free(&c->frame);
  av_packet_free(&c->pkt);
  if (c->fc && c->fc->pb) {
    av_freep(&c->fc->pb->buffer);
    avio_context_free(&c->fc->pb);
  }
  avformat_free_context(c->fc);
  av_freep(&c->out_bytes);
}

// rt_clip_seek moves to the key frame at or before us.
int rt_clip_seek(AVFormatContext *fc, int stream, int64_t us) {
  return av_seek_frame(fc, stream, av_rescale_q(us, US, fc->streams[stream]->time_base), AVSEEK_FLAG_BACKWARD);
}

int64_t rt_frame_us(const AVFrame *f, const AVStream *st) {
  int64_t t = f->best_effort_timestamp;
  return t == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(t, st->time_base, US);
}

int64_t rt_packet_us(const AVPacket *p, const AVStream *st, int decode) {
  int64_t t = decode && p->dts != AV_NOPTS_VALUE ? p->dts : p->pts;
  return t == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(t, st->time_base, US);
}
