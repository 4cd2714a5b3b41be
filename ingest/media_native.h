// C half of the media worker: input over an open descriptor, packet reading
// with a repaired clock, and the decode loop. It runs only in the child process.
#ifndef REELTREE_MEDIA_NATIVE_H
#define REELTREE_MEDIA_NATIVE_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdint.h>

#define RT_STREAMS 128
#define RT_RING 24 // packets looked ahead: more than any codec reorders
#define RT_BINS 64
#define RT_SOUND_RATE 16000 // samples a second of decoded speech

// RtStream is what the headers say about a stream; times in microseconds.
typedef struct {
  int type, codec_id, disposition, width, height, channels, rate;
  double sar, fps, rotation;
  int64_t frames, end_us;
  const char *codec;
  AVDictionary *metadata;
} RtStream;

typedef struct {
  int stream, key, discard, corrupt, size;
  int64_t pts, dts, dur, skip; // microseconds, INT64_MIN = missing
} RtPacket;

typedef struct {
  int64_t last, dur, off;
} RtClock;

// RtReader reads packets of an opened file and mends clock jumps in them.
typedef struct {
  AVFormatContext *fc;
  int mend;                  // the format's clock may jump (MPEG-TS, MPEG-PS)
  RtClock clock[RT_STREAMS];
  int64_t packets;           // read so far, for the heartbeat
  int fault;                 // last error that was not the end of the file
} RtReader;

// RtFrame is a decoded frame's place and look.
typedef struct {
  int64_t us, dur;
  int width, height, format, interlaced, transfer;
  AVRational sar;
  float hist[RT_BINS];
} RtFrame;

// RtDecoder decodes one video stream and leaves out frames nobody refers to
// and nobody wants. All times in microseconds of the container's clock.
typedef struct {
  RtReader *r;
  AVCodecContext *cc;
  int stream, skip;
  double from, to, step, tol; // wanted: what is on screen at from + k*step
  AVPacket *ring[RT_RING];
  int head, len, eof, draining, errors;
  int64_t sent[RT_RING]; // times of packets already given to the decoder
  int nsent;
  int64_t first_dts; // of the first packet when it has no pts, else INT64_MIN
  int keys;          // only key frames, for every wanted time the nearest
  int64_t last_key, key_step; // time of the last key frame, and the longest way between two
  int64_t decoded, skipped;
} RtDecoder;

// RtSound decodes one audio stream to mono 16-bit samples at RT_SOUND_RATE.
typedef struct {
  RtReader *r;
  AVCodecContext *cc;
  int stream, draining, ended, errors;
  struct SwrContext *swr;
  int format, rate, channels; // of what swr takes
  AVFrame *frame;
  AVPacket *pkt;
  int16_t *out;
  int room; // of out, in samples
} RtSound;

// RtClip writes an MP4 file of parts of the input, encoded anew or copied.
// Times are microseconds on the clip's own timeline.
typedef struct {
  AVFormatContext *fc;
  int video, audio, begun; // streams of the clip, -1 = none
  AVCodecContext *venc, *aenc;
  struct SwsContext *sws;
  struct SwrContext *swr;
  struct AVAudioFifo *fifo;
  int in_rate, in_format, in_channels; // of what swr takes
  int64_t last_video, encoded;         // last picture's pts; samples given to the encoder
  AVFrame *frame;
  AVPacket *pkt;
  uint8_t *out_bytes;
  size_t len, cap;
} RtClip;

AVIOContext *rt_io(int fd, int64_t size);
void rt_attach(AVFormatContext *fc, AVIOContext *io);
int rt_find_info(AVFormatContext *fc, int64_t max_pixels);
void rt_stream(AVFormatContext *fc, int i, RtStream *out);
int64_t rt_end_us(AVFormatContext *fc);
void rt_reader(RtReader *r, AVFormatContext *fc);
int rt_scan(RtReader *r, AVPacket *pkt, RtPacket *out, int n, const uint8_t *stop);
void rt_only(AVFormatContext *fc, int stream, int other);
int rt_read(RtReader *r, AVPacket *pkt);
int rt_decoder(RtDecoder *d, RtReader *r, AVCodecContext *cc, int stream);
int rt_seek(RtDecoder *d, int64_t us);
int rt_next(RtDecoder *d, AVFrame *frame, RtFrame *out);
int rt_sound(RtSound *s, RtReader *r, AVCodecContext *cc, int stream);
int rt_sound_next(RtSound *s, int64_t *us);
void rt_sound_free(RtSound *s);
int rt_clip(RtClip *c);
int rt_clip_video(RtClip *c, AVStream *from, int w, int h);
int rt_clip_audio(RtClip *c);
int rt_clip_copy(RtClip *c, AVStream *from, int *index);
int rt_clip_begin(RtClip *c);
int rt_clip_picture(RtClip *c, const AVFrame *f, int64_t us);
int rt_clip_sound(RtClip *c, const AVFrame *f, int64_t us, int64_t from, int64_t to);
int rt_clip_packet(RtClip *c, AVPacket *p, AVStream *from, int stream, int64_t us);
int rt_clip_pad(RtClip *c, int64_t us);
int rt_clip_end(RtClip *c);
void rt_clip_free(RtClip *c);
int rt_clip_seek(AVFormatContext *fc, int stream, int64_t us);
int64_t rt_frame_us(const AVFrame *f, const AVStream *st);
int64_t rt_packet_us(const AVPacket *p, const AVStream *st, int decode);
uint64_t rt_dhash(const AVFrame *f);
int rt_chapter(AVFormatContext *fc, int i, int64_t *start, int64_t *end, AVDictionary **metadata);
void *rt_first(void *wrapper);
#endif
