package server

import (
	"net/http"

	"github.com/reeltree/reeltree/tree"
)

// wireJob is a job as clients see it.
type wireJob struct {
	tree.Job
	Tenant *struct{} `json:"tenant,omitempty"` // hides the tenant
	Stream string    `json:"stream"`
}

func (s *Server) getJobs(w http.ResponseWriter, r *http.Request, tenant string) error {
	all, err := s.cfg.Catalog.Jobs(r.Context(), tenant)
	if err != nil {
		return err
	}
	out := []wireJob{}
	for _, j := range all {
		out = append(out, wireJob{Job: j, Stream: j.ID})
	}
	reply(w, http.StatusOK, map[string]any{"jobs": out})
	return nil
}

func (s *Server) job(r *http.Request, tenant string) (tree.Job, error) {
	id := r.PathValue("id")
	if !tree.ValidID(id) {
		return tree.Job{}, newError(codeNoJob, "%s", notFoundSentence(codeNoJob))
	}
	return s.cfg.Catalog.Job(r.Context(), tenant, id)
}

func (s *Server) getJob(w http.ResponseWriter, r *http.Request, tenant string) error {
	j, err := s.job(r, tenant)
	if err == nil {
		reply(w, http.StatusOK, wireJob{Job: j, Stream: j.ID})
	}
	return err
}

func (s *Server) deleteJob(w http.ResponseWriter, r *http.Request, tenant string) error {
	return s.act(w, r, tenant, "cancel", 0, 0)
}

func (s *Server) postJob(w http.ResponseWriter, r *http.Request, tenant string) error {
	var body struct {
		Action    string `json:"action"`
		MaxCalls  int    `json:"max_calls"`
		MaxTokens int    `json:"max_tokens"`
	}
	if err := readJSON(r, fieldLimit, &body); err != nil {
		return err
	}
	switch body.Action {
	case "cancel", "pause", "resume", "retry":
		return s.act(w, r, tenant, body.Action, body.MaxCalls, body.MaxTokens)
	}
	return newError(codeBadAction, "the action %.40q is unknown: use pause, resume, retry or cancel", body.Action)
}

func (s *Server) act(w http.ResponseWriter, r *http.Request, tenant, action string, calls, tokens int) error {
	if s.cfg.Act == nil {
		return newError(codeNoRoute, "this service steers no jobs")
	}
	j, err := s.job(r, tenant)
	if err != nil {
		return err
	}
	if err := s.cfg.Act(r.Context(), tenant, j.ID, action, calls, tokens); err != nil {
		return err
	}
	if j, err = s.cfg.Catalog.Job(r.Context(), tenant, j.ID); err != nil {
		return err
	}
	reply(w, http.StatusOK, wireJob{Job: j, Stream: j.ID})
	return nil
}
