package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strconv"

	"github.com/reeltree/reeltree/generate"
	"github.com/reeltree/reeltree/ingest"
	"github.com/reeltree/reeltree/library"
	"github.com/reeltree/reeltree/server"
	"github.com/reeltree/reeltree/tree"
)

// players gives players what they need beside the medium itself.
type players struct {
	a    *app
	made *makings
}

// Names of derived files. An empty rendition means that the medium plays as it is.
const (
	renditionFile = "rendition-mp4"
	peaksFile     = "peaks-json"
	spritesFile   = "sprites-"
)

// Rendition tells what a player should play; it is made where there is none.
func (p *players) Rendition(ctx context.Context, tenant, source string) (state, reason string, err error) {
	work, err := p.made.start(madeOf{tenant, source, renditionFile}, p.writeRendition(tenant, source))
	if err != nil {
		return "", "", err
	}
	if work != nil {
		select {
		case <-work.done:
		default:
			return server.RenditionMaking, "", nil
		}
		if sentence, refused := sourceRefusal(work.err); refused {
			return server.RenditionFailed, sentence, nil
		}
		if work.err != nil {
			return "", "", work.err
		}
	}
	f, err := p.a.store.OpenDerived(ctx, tenant, source, renditionFile)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }()
	empty, err := isEmpty(f)
	if empty {
		return server.RenditionNone, "", nil
	}
	return server.RenditionReady, "", err
}

// OpenRendition opens a finished rendition; it makes none.
func (p *players) OpenRendition(ctx context.Context, tenant, source string) (*os.File, error) {
	f, err := p.a.store.OpenDerived(ctx, tenant, source, renditionFile)
	if err != nil {
		return nil, err
	}
	if empty, err := isEmpty(f); empty || err != nil {
		return nil, errors.Join(err, f.Close(), library.ErrNotFound)
	}
	return f, nil
}

func isEmpty(f *os.File) (bool, error) {
	info, err := f.Stat()
	return err == nil && info.Size() == 0, err
}

func (p *players) writeRendition(tenant, source string) func(context.Context, io.Writer) error {
	return p.ofMedium(tenant, source, func(ctx context.Context, file *os.File, w io.Writer) error {
		facts, err := p.a.media.Probe(ctx, file, ingest.MediaRequest{MaxPixels: p.a.settings.MaxPixels.V})
		if err != nil || facts.Plays() {
			return err
		}
		return p.a.media.Rendition(ctx, file, facts, w)
	})
}

// Peaks opens the waveform of a recording, made first where there is none.
func (p *players) Peaks(ctx context.Context, tenant, source string) (*os.File, error) {
	return p.made.open(ctx, madeOf{tenant, source, peaksFile}, p.ofMedium(tenant, source, func(ctx context.Context, file *os.File, w io.Writer) error {
		peaks, err := p.a.media.Peaks(ctx, file, 0)
		if err != nil {
			return err
		}
		return json.NewEncoder(w).Encode(peaks)
	}))
}

// ofMedium works on the bytes of a source.
func (p *players) ofMedium(tenant, source string, work func(context.Context, *os.File, io.Writer) error) func(context.Context, io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		file, err := p.a.store.OpenContent(ctx, tenant, source)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		return work(ctx, file, w)
	}
}

// Sprites opens the index of the seek previews, made first where there is none.
// Those of an earlier tree go then.
func (p *players) Sprites(ctx context.Context, tenant, source string) (*os.File, error) {
	t, err := p.a.store.Tree(ctx, tenant, source)
	if err != nil {
		return nil, err
	}
	key := spritesFile + spritesKey(t)
	return p.made.open(ctx, madeOf{tenant, source, key + "-vtt"}, func(ctx context.Context, w io.Writer) error {
		read := func(id string) ([]byte, error) { return p.a.store.Frame(ctx, tenant, id) }
		made, err := generate.MakeSprites(t, read, func(sheet int) string {
			return "sprites/" + key[len(spritesFile):] + "-" + strconv.Itoa(sheet) + ".jpg"
		})
		if err != nil {
			return err
		}
		for i, sheet := range made.Sheets {
			err := p.a.store.SaveDerived(ctx, tenant, source, key+"-"+strconv.Itoa(i), func(w io.Writer) error {
				_, err := io.Copy(w, bytes.NewReader(sheet))
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := p.a.store.DropDerived(ctx, tenant, source, spritesFile, key); err != nil {
			return err
		}
		_, err = w.Write(made.Index)
		return err
	})
}

// Sheet opens a sheet of previews that an index names; it makes none.
func (p *players) Sheet(ctx context.Context, tenant, source, name string) (*os.File, error) {
	return p.a.store.OpenDerived(ctx, tenant, source, spritesFile+name)
}

// spritesKey names the pictures of a tree.
func spritesKey(t *tree.Tree) string {
	h := fnv.New64a()
	for _, f := range t.Frames() {
		_, _ = fmt.Fprintln(h, f.ID, f.TimeMS) // a hash never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
