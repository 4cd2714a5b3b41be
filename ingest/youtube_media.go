package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	youtube "github.com/kkdai/youtube/v2"
)

const (
	chunkBytes = 10 << 20 // YouTube slows down longer requests
	chunkTries = 3        // for each chunk
	wantHeight = 720      // more is scaled down at once by the sampler
)

// errForbidden is the cause of a refused stream: the same address stays refused.
var errForbidden = errors.New("forbidden")

// chooseFormat takes a stream with picture and sound: the highest up to 720
// lines, else the lowest. Where YouTube offers none, picture alone: frames and
// captions still make a tree.
func chooseFormat(v *youtube.Video) (*youtube.Format, string, error) {
	video := v.Formats.Select(func(f youtube.Format) bool {
		return strings.HasPrefix(f.MimeType, "video/") && f.Height > 0 && (f.URL != "" || f.Cipher != "")
	})
	warning := ""
	both := video.WithAudioChannels()
	if len(both) == 0 {
		both, warning = video, "YouTube offers this video without sound only, so nothing was heard."
	}
	if len(both) == 0 {
		return nil, "", unfetchable("YouTube offers no download of the video %s with a picture", v.ID)
	}
	best := slices.MaxFunc(both, func(a, b youtube.Format) int {
		if c := rank(a) - rank(b); c != 0 {
			return c
		}
		return b.ItagNo - a.ItagNo
	})
	return &best, warning, nil
}

// rank orders heights up to the wanted one upwards, above it downwards; of
// equal ones mp4 with AVC is first, since every build decodes it.
func rank(f youtube.Format) int {
	r := f.Height * 4
	if f.Height > wantHeight {
		r = -r
	}
	if strings.Contains(f.MimeType, "avc1") {
		r += 2
	}
	return r
}

// streamAddress is where the bytes are. A plain address is used as it is. A
// ciphered one goes through the library, which undoes the cipher by its own
// steps; it would run a script of YouTube without a time limit for an address
// with parameter v, so such a one is refused.
func (c *tubeCall) streamAddress(ctx context.Context, v *youtube.Video, f *youtube.Format) (*url.URL, error) {
	address := f.URL
	if address == "" {
		params, err := url.ParseQuery(f.Cipher)
		inner, err2 := url.Parse(params.Get("url"))
		if err != nil || err2 != nil || inner.Query().Has("v") {
			return nil, unfetchable("YouTube offers the video %s in a form that cannot be read", c.id)
		}
		err = safely(func() (err error) {
			address, err = c.client.GetStreamURLContext(ctx, v, f)
			return err
		})
		if err != nil {
			return nil, c.explain(ctx, err)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, unfetchable("YouTube gives an address for the video %s that cannot be read", c.id)
	}
	return u, checkURL(u)
}

// media copies the stream in order, chunk by chunk. The library's own stream
// is not used: it reads the whole video ahead into memory and its goroutines
// outlive the call.
func (c *tubeCall) media(ctx context.Context, u *url.URL, total int64, w io.Writer, progress FetchProgress) (int64, error) {
	if total < 0 || total > c.f.cfg.MaxBytes {
		return 0, c.f.tooLarge("YouTube", total)
	}
	if total == 0 {
		return c.unmeasured(ctx, u, w, progress)
	}
	done, tries := int64(0), 0
	for done < total {
		n, err := c.chunk(ctx, u, done, min(done+chunkBytes, total), w, func(n int64) { progress(done+n, total) })
		done += n
		if err == nil {
			tries = 0
			continue
		}
		var known *FetchError
		if tries++; isWrite(err) || ctx.Err() != nil || !errors.As(err, &known) || !known.Retry ||
			errors.Is(err, errForbidden) || tries == chunkTries {
			return done, c.broken(err, done, total)
		}
		if err := fetchWait(ctx, time.Duration(tries)*100*time.Millisecond); err != nil {
			return done, err
		}
	}
	return done, nil
}

// broken says how far a download came.
func (c *tubeCall) broken(err error, done, total int64) error {
	var known *FetchError
	if !errors.As(err, &known) || done == 0 {
		return err
	}
	return &FetchError{
		Reason: fmt.Sprintf("the download stopped after %d of %d bytes: %s", done, total, known.Reason),
		Retry:  known.Retry, Cause: known,
	}
}

// chunk copies the bytes [from, to).
func (c *tubeCall) chunk(ctx context.Context, u *url.URL, from, to int64, w io.Writer, tell func(int64)) (int64, error) {
	part := *u
	q := part.Query()
	q.Set("range", strconv.FormatInt(from, 10)+"-"+strconv.FormatInt(to-1, 10))
	part.RawQuery = q.Encode()
	n, err := c.get(ctx, &part, to-from, w, tell)
	switch {
	case err != nil:
		return n, err
	case n > to-from:
		return n, unfetchable("YouTube sends more bytes than it was asked for")
	case n < to-from:
		return n, fetchLater(io.ErrUnexpectedEOF, "YouTube sends fewer bytes than it was asked for")
	}
	return n, nil
}

// unmeasured copies a stream whose length YouTube does not say.
func (c *tubeCall) unmeasured(ctx context.Context, u *url.URL, w io.Writer, progress FetchProgress) (int64, error) {
	n, err := c.get(ctx, u, c.f.cfg.MaxBytes, w, func(n int64) { progress(n, 0) })
	switch {
	case err != nil:
		return n, err
	case n > c.f.cfg.MaxBytes:
		return n, c.f.tooLarge("YouTube", n)
	case n == 0:
		return 0, fetchLater(nil, "YouTube sends an empty video")
	}
	return n, nil
}

// get copies at most limit+1 bytes of one reply.
func (c *tubeCall) get(ctx context.Context, u *url.URL, limit int64, w io.Writer, tell func(int64)) (int64, error) {
	ctx, watch := c.f.watch(ctx)
	defer watch.stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, unfetchable("YouTube gives an address that cannot be read")
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := c.f.web.RoundTrip(req)
	if err != nil {
		return 0, explainNet(ctx, youTube, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end, or failed already
	if resp.StatusCode == http.StatusForbidden {
		return 0, fetchLater(errForbidden, "YouTube refuses to hand it out (status 403); try again later")
	}
	if resp.StatusCode != http.StatusOK {
		return 0, explainStatus(youTube, resp.StatusCode)
	}
	n, err := copyLimited(ctx, w, &meter{body: resp.Body, watch: watch, tell: tell}, limit)
	if err != nil && !isWrite(err) {
		err = explainNet(ctx, youTube, err)
	}
	return n, err
}

func fetchWait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
