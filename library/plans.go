package library

import "context"

// SavePlan keeps what planning a job found out.
func (s *Store) SavePlan(ctx context.Context, tenant, job string, data []byte) error {
	return s.put(ctx, blobKey("plans", tenant, job), data)
}

// Plan gives it back, ErrNotFound without one.
func (s *Store) Plan(ctx context.Context, tenant, job string) ([]byte, error) {
	return s.get(ctx, blobKey("plans", tenant, job))
}

// SaveVectors keeps the vectors of a source's tree, named by the embedder that
// made them, so that another embedder never reads them by mistake.
func (s *Store) SaveVectors(ctx context.Context, tenant, source, embedder string, data []byte) error {
	unlock, err := s.present(ctx, tenant, source)
	if err != nil {
		return err
	}
	defer unlock()
	return s.put(ctx, blobKey("vectors", tenant, source, embedder), data)
}

// Vectors gives them back, ErrNotFound without.
func (s *Store) Vectors(ctx context.Context, tenant, source, embedder string) ([]byte, error) {
	return s.get(ctx, blobKey("vectors", tenant, source, embedder))
}
