// Package e2e drives the real binary against real files and real peers. Its
// tests sit behind the build tag e2e (make e2e-short): they build the binary,
// make their clips with the ffmpeg command, and take some minutes.
package e2e
