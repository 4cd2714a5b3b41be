package library

import (
	"context"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/reeltree/reeltree/tree"
)

// Picture is one JPEG with the media time it was taken at.
type Picture struct {
	JPEG          []byte
	TimeMS        int64
	Width, Height int
}

// frameIndex finds a frame by its public id within a tenant. It is filled as
// frames are saved, and from the trees of a tenant at the first miss.
type frameIndex struct {
	mu     sync.Mutex
	refs   map[string]map[string]tree.FrameRef // tenant, id
	loaded map[string]bool                     // tenant + NUL + source
}

// SaveFrames stores the frames of one L2 as one blob and says where each lies.
func (s *Store) SaveFrames(ctx context.Context, tenant, node string, frames []Picture) ([]tree.FrameRef, error) {
	source, at, err := tree.ParseNodeID(node)
	if err != nil {
		return nil, err
	}
	key := path.Join(blobKey("frames", tenant, source), nodeFile(at))
	refs := make([]tree.FrameRef, len(frames))
	var pack []byte
	for i, f := range frames {
		refs[i] = tree.FrameRef{
			ID: tree.FrameID(f.JPEG), Blob: key, Offset: int64(len(pack)), Length: int64(len(f.JPEG)),
			TimeMS: f.TimeMS, Width: f.Width, Height: f.Height,
		}
		pack = append(pack, f.JPEG...)
	}
	if err := s.blobs.WriteAll(ctx, key, pack, nil); err != nil {
		return nil, fmt.Errorf("the frames of %s cannot be stored: %w", node, err)
	}
	s.frames.add(tenant, refs)
	return refs, nil
}

func (x *frameIndex) add(tenant string, refs []tree.FrameRef) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.refs == nil {
		x.refs, x.loaded = map[string]map[string]tree.FrameRef{}, map[string]bool{}
	}
	if x.refs[tenant] == nil {
		x.refs[tenant] = map[string]tree.FrameRef{}
	}
	for _, r := range refs {
		x.refs[tenant][r.ID] = r
	}
}

func (x *frameIndex) find(tenant, id string) (tree.FrameRef, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := x.refs[tenant][id]
	return r, ok
}

// claim reports whether the frames of a source still have to be loaded.
func (x *frameIndex) claim(tenant, source string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.loaded == nil {
		x.refs, x.loaded = map[string]map[string]tree.FrameRef{}, map[string]bool{}
	}
	key := tenant + "\x00" + source
	defer func() { x.loaded[key] = true }()
	return !x.loaded[key]
}

// forget drops a source's frames, so that a deleted picture is not found.
func (x *frameIndex) forget(tenant, source string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	folder := blobKey("frames", tenant, source) + "/"
	for id, r := range x.refs[tenant] {
		if len(r.Blob) > len(folder) && r.Blob[:len(folder)] == folder {
			delete(x.refs[tenant], id)
		}
	}
	delete(x.loaded, tenant+"\x00"+source)
}

// Frame gives the JPEG with that public id, looked up within the tenant only.
func (s *Store) Frame(ctx context.Context, tenant, id string) ([]byte, error) {
	ref, ok := s.frames.find(tenant, id)
	if !ok {
		if err := s.loadFrames(ctx, tenant); err != nil {
			return nil, err
		}
		if ref, ok = s.frames.find(tenant, id); !ok {
			return nil, fmt.Errorf("the frame %.60q: %w", id, ErrNotFound)
		}
	}
	r, err := s.blobs.NewRangeReader(ctx, ref.Blob, ref.Offset, ref.Length, nil)
	if err != nil {
		return nil, fmt.Errorf("the frame %s: %w", id, ErrNotFound)
	}
	defer func() { _ = r.Close() }()
	jpeg, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("the frame %s cannot be read: %w", id, err)
	}
	if tree.FrameID(jpeg) != id {
		return nil, fmt.Errorf("the frame %s: %w", id, ErrDamaged)
	}
	return jpeg, nil
}

func (s *Store) loadFrames(ctx context.Context, tenant string) error {
	sources, err := s.Sources(ctx, tenant)
	if err != nil {
		return err
	}
	for _, src := range sources {
		if !s.frames.claim(tenant, src.ID) {
			continue
		}
		t, err := s.Tree(ctx, tenant, src.ID)
		if err != nil {
			s.log.Warn("the frames of a source cannot be found", "source", src.ID, "error", err)
			continue
		}
		for _, root := range t.Roots {
			root.Leaves(func(l *tree.Node) {
				if f := l.Evidence.Frame; f != nil {
					s.frames.add(tenant, []tree.FrameRef{*f})
				}
			})
		}
	}
	return nil
}
