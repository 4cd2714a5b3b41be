package ingest

import "github.com/reeltree/reeltree/tree"

// MediaRequest is what the media worker is asked for. One child serves one request.
type MediaRequest struct {
	Document   string     `json:"document,omitempty"` // format of a document, in mode "document"
	Mode       string     `json:"mode"`               // "probe": headers and one pass over all packets; "sample": frames of a stretch; "sound": its samples; "document": blocks of text; "clip": an MP4 file of Spans
	FromMS     int64      `json:"from_ms"`
	ToMS       int64      `json:"to_ms"` // 0 = to the end
	FPS        float64    `json:"fps"`   // wanted frames per second, default 1.0
	LongSide   int        `json:"long_side"`
	Quality    int        `json:"quality"` // FFmpeg qscale, 2 best to 31
	AudioTrack int        `json:"audio_track"`
	MaxPixels  int64      `json:"max_pixels"`
	Spans      []ClipSpan `json:"spans,omitempty"` // of a clip, in its order
	Exact      bool       `json:"exact,omitempty"` // a clip begins and ends at its times; else at key frames
	Keys       bool       `json:"keys,omitempty"`  // frames are the key frames nearest to the wanted times, and no cuts are looked for
}

// unknownMIME is the media type of what the probe knows no better one for.
const unknownMIME = "application/octet-stream"

// MediaFacts is what probing found out, on the source's own timeline.
type MediaFacts struct {
	Kind       tree.Kind       `json:"kind"`
	Format     string          `json:"format"` // demuxer name
	MIME       string          `json:"mime"`
	DurationMS int64           `json:"duration_ms"` // from the last frame, sample or cue seen, never the header alone
	Video      *VideoFacts     `json:"video,omitempty"`
	Audio      []AudioFacts    `json:"audio,omitempty"`
	Subtitles  []SubtitleFacts `json:"subtitles,omitempty"`
	Pictures   int             `json:"pictures"` // attached pictures
	Chapters   []Chapter       `json:"chapters,omitempty"`
	Title      string          `json:"title,omitempty"`
	KeyFrames  []int64         `json:"key_frames,omitempty"` // ms, of the video stream, ascending
	Warnings   []string        `json:"warnings,omitempty"`   // one sentence each
	Partial    bool            `json:"partial"`              // the file ends before its header says
}

// VideoFacts describes the chosen video stream. Width and Height are as shown:
// after rotation and pixel aspect.
type VideoFacts struct {
	Codec    string  `json:"codec"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	Rotation int     `json:"rotation"` // 0, 90, 180, 270 clockwise
	FPS      float64 `json:"fps"`      // average over the packets seen
	Frames   int64   `json:"frames"`
}

// AudioFacts describes one audio stream, in file order.
type AudioFacts struct {
	Codec    string `json:"codec"`
	Channels int    `json:"channels"`
	Rate     int    `json:"rate"`
	Language string `json:"language,omitempty"`
	Title    string `json:"title,omitempty"`
	Default  bool   `json:"default"`
}

// SubtitleFacts describes one subtitle stream with its cues (none for bitmap codecs).
type SubtitleFacts struct {
	Codec    string     `json:"codec"`
	Language string     `json:"language,omitempty"`
	Default  bool       `json:"default"`
	Forced   bool       `json:"forced"`
	Bitmap   bool       `json:"bitmap"`
	Cues     []tree.Cue `json:"cues,omitempty"`
}

// Chapter is a named span of the container.
type Chapter struct {
	StartMS int64  `json:"start_ms"`
	EndMS   int64  `json:"end_ms"`
	Title   string `json:"title"`
}

// MediaFrame is one sampled picture, upright, in time order.
type MediaFrame struct {
	TimeMS        int64
	Width, Height int
	JPEG          []byte
	Hash          uint64 // difference hash of the luma (9x8), for near-duplicates
}

// MediaShot is a cut between two shots: the time of the first frame after it.
type MediaShot struct {
	TimeMS int64
	Score  float64 // 0..1, histogram distance
}

// soundRate is how many samples a second the media worker gives; speech models
// work at 16 kHz.
const soundRate = 16000

// maxSoundBlock is the most samples of one block.
const maxSoundBlock = soundRate

// SoundBlock is a run of mono samples. First is the number of its first sample
// on the source's own timeline, at 16,000 a second.
type SoundBlock struct {
	First   int64
	Samples []int16
}
