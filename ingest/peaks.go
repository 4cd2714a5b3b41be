package ingest

import (
	"context"
	"os"
)

// peakSamples is how many samples one pair of peaks stands for: a tenth of a second.
const peakSamples = soundRate / 10

// maxPeaks bounds a waveform to a little over a week.
const maxPeaks = 10 * 3600 * 24 * 8

// Peaks is the waveform of a recording in the JSON form of audiowaveform's
// version 2 files, which players read: for every SamplesPerPixel samples the
// least and the greatest, in Bits bits.
type Peaks struct {
	Version         int    `json:"version"`
	Channels        int    `json:"channels"`
	SampleRate      int    `json:"sample_rate"`
	SamplesPerPixel int    `json:"samples_per_pixel"`
	Bits            int    `json:"bits"`
	Length          int    `json:"length"` // pairs
	Data            []int8 `json:"data"`   // least, greatest, least, greatest, …
}

// Peaks draws the waveform of the chosen audio stream. A hole in it is silence.
func (m Media) Peaks(ctx context.Context, file *os.File, track int) (Peaks, error) {
	p := Peaks{Version: 2, Channels: 1, SampleRate: soundRate, SamplesPerPixel: peakSamples, Bits: 8, Data: []int8{}}
	err := m.Sound(ctx, file, MediaRequest{AudioTrack: track}, func(b SoundBlock) error {
		for i, v := range b.Samples {
			if at := 2 * int((b.First+int64(i))/peakSamples); at < 2*maxPeaks {
				p.widen(at, int8(v>>8))
			}
		}
		return ctx.Err()
	})
	p.Length = len(p.Data) / 2
	return p, err
}

// widen takes a sample into the pair that starts at a place of the data.
func (p *Peaks) widen(at int, v int8) {
	for len(p.Data) < at+2 {
		p.Data = append(p.Data, 0)
	}
	p.Data[at], p.Data[at+1] = min(p.Data[at], v), max(p.Data[at+1], v)
}
