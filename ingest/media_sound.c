//go:build cgo

#include "media_native.h"
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

static const AVRational US = {1, 1000000};

int rt_sound(RtSound *s, RtReader *r, AVCodecContext *cc, int stream) {
  *s = (RtSound){.r = r, .cc = cc, .stream = stream, .frame = av_frame_alloc(), .pkt = av_packet_alloc()};
  cc->pkt_timebase = r->fc->streams[stream]->time_base;
  return s->frame && s->pkt ? 0 : AVERROR(ENOMEM);
}

void rt_sound_free(RtSound *s) {
  swr_free(&s->swr);
  av_frame_free(&s->frame);
  av_packet_free(&s->pkt);
  av_freep(&s->out);
}

// retune makes the resampler fit the frame: a stream may change its rate or
// layout on the way. What the old one still held, a few samples, is dropped.
static int retune(RtSound *s) {
  AVFrame *f = s->frame;
  if (s->swr && s->format == f->format && s->rate == f->sample_rate && s->channels == f->ch_layout.nb_channels)
    return 0;
  AVChannelLayout in = f->ch_layout, mono = AV_CHANNEL_LAYOUT_MONO;
  if (f->sample_rate <= 0 || in.nb_channels < 1 || in.nb_channels > 64)
    return AVERROR_INVALIDDATA;
  if (in.order == AV_CHANNEL_ORDER_UNSPEC)
    av_channel_layout_default(&in, f->ch_layout.nb_channels);
  swr_free(&s->swr);
  int ret = swr_alloc_set_opts2(&s->swr, &mono, AV_SAMPLE_FMT_S16, RT_SOUND_RATE, &in, f->format, f->sample_rate, 0, NULL);
  if (ret >= 0)
    ret = swr_init(s->swr);
  if (ret < 0) {
    swr_free(&s->swr);
    return ret;
  }
  s->format = f->format;
  s->rate = f->sample_rate;
  s->channels = f->ch_layout.nb_channels;
  return 0;
}

// convert resamples the frame, or what is left where in is NULL. us is the
// container time of the first sample given out.
static int convert(RtSound *s, const AVFrame *in, int64_t *us) {
  int room = swr_get_out_samples(s->swr, in ? in->nb_samples : 0);
  if (room < 0 || room > 1 << 24)
    return AVERROR_INVALIDDATA;
  if (room > s->room) {
    av_freep(&s->out);
    s->room = 0;
    if (!(s->out = av_malloc_array(room, sizeof *s->out)))
      return AVERROR(ENOMEM);
    s->room = room;
  }
  if (*us != INT64_MIN)
    *us -= swr_get_delay(s->swr, 1000000);
  uint8_t *out = (uint8_t *)s->out;
  return swr_convert(s->swr, &out, room, in ? (const uint8_t **)in->extended_data : NULL, in ? in->nb_samples : 0);
}

static int feed(RtSound *s) {
  for (;;) {
    if (rt_read(s->r, s->pkt) < 0) {
      s->draining = 1;
      return avcodec_send_packet(s->cc, NULL);
    }
    if (s->pkt->stream_index != s->stream) {
      av_packet_unref(s->pkt);
      continue;
    }
    int ret = avcodec_send_packet(s->cc, s->pkt);
    av_packet_unref(s->pkt);
    return ret;
  }
}

// rt_sound_next decodes on to the next samples and returns how many lie in
// s->out; 0 where a frame gave none. AVERROR_EOF at the end; other errors only
// when 1000 packets in a row cannot be decoded.
int rt_sound_next(RtSound *s, int64_t *us) {
  for (;;) {
    int ret = avcodec_receive_frame(s->cc, s->frame);
    if (ret >= 0) {
      int64_t t = s->frame->best_effort_timestamp;
      *us = t == AV_NOPTS_VALUE ? INT64_MIN : av_rescale_q(t, s->cc->pkt_timebase, US);
      if ((ret = retune(s)) >= 0)
        ret = convert(s, s->frame, us);
      av_frame_unref(s->frame);
      if (ret >= 0) {
        s->errors = 0;
        return ret;
      }
    } else if (ret == AVERROR_EOF || (ret == AVERROR(EAGAIN) && s->draining)) {
      *us = INT64_MIN;
      if (!s->swr || s->ended++)
        return AVERROR_EOF;
      return convert(s, NULL, us);
    } else if (ret == AVERROR(EAGAIN)) {
      ret = feed(s);
    }
    if (ret < 0 && ret != AVERROR_EOF && (ret == AVERROR(ENOMEM) || ++s->errors > 1000))
      return ret;
  }
}
