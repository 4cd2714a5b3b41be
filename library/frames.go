package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"gocloud.dev/gcerrors"

	"github.com/reeltree/reeltree/tree"
)

// Picture is one JPEG with the media time it was taken at.
type Picture struct {
	JPEG          []byte
	TimeMS        int64
	Width, Height int
}

// SaveFrames stores the frames of one L2 as one blob and says where each lies.
// Storing those of the same L2 again replaces them.
func (s *Store) SaveFrames(ctx context.Context, tenant, node string, frames []Picture) ([]tree.FrameRef, error) {
	source, at, err := tree.ParseNodeID(node)
	if err != nil {
		return nil, err
	}
	key := path.Join(blobKey("frames", tenant, source), nodeFile(at))
	refs := make([]tree.FrameRef, len(frames))
	parts := make([][]byte, len(frames))
	end := int64(0)
	for i, f := range frames {
		refs[i] = tree.FrameRef{
			ID: tree.FrameID(f.JPEG), Blob: key, Offset: end, Length: int64(len(f.JPEG)),
			TimeMS: f.TimeMS, Width: f.Width, Height: f.Height,
		}
		parts[i] = f.JPEG
		end += int64(len(f.JPEG))
	}
	unlock, err := s.present(ctx, tenant, source)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.write(ctx, key, parts...); err != nil {
		return nil, err
	}
	s.frames.forgetPack(tenant, key)
	s.frames.add(tenant, refs...)
	return refs, nil
}

// Frame gives the JPEG with that public id, looked up within the tenant only.
func (s *Store) Frame(ctx context.Context, tenant, id string) ([]byte, error) {
	if !tree.ValidID(id) {
		return nil, fmt.Errorf("the frame %.60q: %w", id, ErrNotFound)
	}
	places := s.frames.find(tenant, id)
	if len(places) == 0 {
		if err := s.loadFrames(ctx, tenant); err != nil {
			return nil, err
		}
		places = s.frames.find(tenant, id)
	}
	err := ErrNotFound
	for _, p := range places { // the same picture may lie in several clips
		var jpeg []byte
		if jpeg, err = s.readFrame(ctx, p); err == nil && tree.FrameID(jpeg) == id {
			return jpeg, nil
		}
		if err == nil {
			err = ErrDamaged
		}
	}
	return nil, fmt.Errorf("the frame %s: %w", id, err)
}

func (s *Store) readFrame(ctx context.Context, p place) ([]byte, error) {
	r, err := s.blobs.NewRangeReader(ctx, p.pack, p.offset, p.length, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	defer func() { _ = r.Close() }()
	var jpeg bytes.Buffer
	if _, err := io.Copy(&jpeg, io.LimitReader(r, p.length)); err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	return jpeg.Bytes(), nil
}

// loadFrames reads the trees of a tenant whose frames are not in the index yet.
// One caller does it and the others wait: a page asks for many pictures at once.
func (s *Store) loadFrames(ctx context.Context, tenant string) error {
	s.frames.loading.Lock()
	defer s.frames.loading.Unlock()
	sources, err := s.Sources(ctx, tenant)
	if err != nil {
		return err
	}
	for _, src := range sources {
		if s.frames.has(tenant, src.ID) {
			continue
		}
		t, err := s.Tree(ctx, tenant, src.ID)
		switch {
		case errors.Is(err, ErrNotFound): // deleted meanwhile
		case err != nil && ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.log.Warn("the frames of a source cannot be found", "source", src.ID, "error", err)
		default:
			s.frames.addTree(tenant, t)
		}
	}
	return nil
}
