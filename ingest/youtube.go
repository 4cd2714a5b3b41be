package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	youtube "github.com/kkdai/youtube/v2"
)

// replyBytes caps every reply of YouTube that is read into memory.
const replyBytes = 16 << 20

// tubeCall is one video while it is fetched. The library's client is not safe
// for concurrent use, so each video has its own.
type tubeCall struct {
	f      *Fetcher
	id     string
	client *youtube.Client
}

func (f *Fetcher) fetchYouTube(ctx context.Context, id string, opt FetchOptions, w io.Writer, progress FetchProgress) (Fetched, error) {
	c := &tubeCall{f: f, id: id, client: &youtube.Client{HTTPClient: f.tubeClient(ctx)}}
	video, err := c.video(ctx)
	if err != nil {
		return Fetched{}, err
	}
	got := Fetched{
		URL: "https://www.youtube.com/watch?v=" + id, Name: id, MIME: "video/mp4",
		Title: oneLine(video.Title, 300), Author: oneLine(video.Author, 200), DurationMS: video.Duration.Milliseconds(),
	}
	format, warning, err := chooseFormat(video)
	if err != nil {
		return Fetched{}, err
	}
	if warning != "" {
		got.Warnings = append(got.Warnings, warning)
	}
	got.MIME, _, _ = strings.Cut(format.MimeType, ";")
	if err := c.captions(ctx, video, opt.Language, &got); err != nil {
		return Fetched{}, err
	}
	address, err := c.streamAddress(ctx, video, format)
	if err != nil {
		return Fetched{}, err
	}
	got.Bytes, err = c.media(ctx, address, format.ContentLength, w, progress)
	return got, err
}

// tubeClient is the client injected into the library: guarded, every reply
// capped and under a stall limit, redirects only within YouTube. The library
// sends one of its requests without a context, so ctx is put into all.
func (f *Fetcher) tubeClient(ctx context.Context) *http.Client {
	return &http.Client{
		Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithTimeout(ctx, f.cfg.Stall)
			req = req.WithContext(ctx)
			req.Header.Set("Accept-Encoding", "identity")
			resp, err := f.web.RoundTrip(req)
			if err != nil {
				cancel()
				return nil, err
			}
			resp.Body = &cappedBody{ReadCloser: resp.Body, left: replyBytes, cancel: cancel}
			return resp, nil
		}),
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return unfetchable("YouTube redirects more than %d times", maxRedirects)
			}
			if err := checkURL(req.URL); err != nil {
				return err
			}
			if !isYouTube(req.URL) {
				return unfetchable("YouTube redirects to %s, which is not followed", oneLine(req.URL.Hostname(), 80))
			}
			return nil
		},
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// cappedBody ends a reply that is too long with an error.
type cappedBody struct {
	io.ReadCloser
	left   int64
	cancel context.CancelFunc
}

func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, unfetchable("YouTube sends a reply of more than %d bytes, which is not read", replyBytes)
	}
	return n, err
}

// Close also ends the request's context.
func (b *cappedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// video asks for the facts.
func (c *tubeCall) video(ctx context.Context) (*youtube.Video, error) {
	var video *youtube.Video
	err := safely(func() (err error) {
		video, err = c.client.GetVideoContext(ctx, c.id)
		return err
	})
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if video.HLSManifestURL != "" && video.Duration == 0 {
		return nil, fetchLater(nil, "the video %s is a live stream; give its address again when it has ended", c.id)
	}
	return video, nil
}

// safely turns a panic of the library over a malformed reply into an error.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = unfetchable("YouTube sends a reply that cannot be read (%s)", oneLine(fmt.Sprint(p), 80))
		}
	}()
	return do()
}

// explain turns an error of the library into a sentence.
func (c *tubeCall) explain(ctx context.Context, err error) error {
	var status youtube.ErrUnexpectedStatusCode
	var play *youtube.ErrPlayabiltyStatus
	var known *FetchError
	switch {
	case errors.As(err, &known), ctx.Err() != nil:
		return explainNet(ctx, youTube, err)
	case errors.Is(err, youtube.ErrVideoPrivate):
		return unfetchable("the video %s is private", c.id)
	case errors.Is(err, youtube.ErrLoginRequired), strings.Contains(err.Error(), "age restriction"):
		return unfetchable("the video %s can be watched only after login (age restriction or bot check), which is not supported", c.id)
	case errors.As(err, &play):
		return c.unplayable(play)
	case errors.As(err, &status):
		return explainStatus(youTube, int(status))
	case strings.Contains(err.Error(), "no formats found"):
		return unfetchable("YouTube offers no download of the video %s; it may be live, protected or not yet processed", c.id)
	case strings.Contains(err.Error(), "unable to parse"), strings.Contains(err.Error(), "ytInitialPlayerResponse"):
		return fetchLater(err, "YouTube sends a reply about the video %s that cannot be read", c.id)
	}
	return explainNet(ctx, youTube, err)
}

// unplayable names the states of a video that is there but not shown.
func (c *tubeCall) unplayable(p *youtube.ErrPlayabiltyStatus) error {
	reason := strings.ToLower(p.Reason)
	switch {
	case strings.HasPrefix(p.Status, "LIVE_STREAM"):
		return fetchLater(nil, "the video %s is a live stream that has not begun; give its address again when it has ended", c.id)
	case strings.Contains(reason, "country"), strings.Contains(reason, "region"), strings.Contains(reason, "location"):
		return unfetchable("the video %s is blocked in the region of this server", c.id)
	case strings.Contains(reason, "members"), strings.Contains(reason, "payment"), strings.Contains(reason, "purchase"):
		return unfetchable("the video %s must be paid for, which is not supported", c.id)
	case p.Status == "ERROR":
		return unfetchable("YouTube has no video %s (%s)", c.id, oneLine(p.Reason, 120))
	}
	return unfetchable("YouTube does not show the video %s (%s)", c.id, oneLine(p.Status+": "+p.Reason, 120))
}
