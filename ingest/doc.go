// Package ingest turns sources into described, searchable trees: it opens and
// probes them, cuts them into stretches and clips, samples frames, reads
// subtitles and hands the material to the tree build. Native code (FFmpeg
// through go-astiav) runs only in a child process, see media.go.
//
// It reaches state, index and progress through the small interfaces in
// seams.go and never calls a model other than through one.
package ingest
