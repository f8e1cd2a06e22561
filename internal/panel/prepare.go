package panel

import (
	"strings"

	"tandem/internal/job/wire"
)

// prepareRoutes ask whether what a job's changed lock files name is fetched.
func prepareRoutes(p *Panel) {
	lock := func(v *visit) string { return strings.TrimSpace(v.r.FormValue("lock")) }
	asks := func(v *visit, problem string) error {
		id := v.r.PathValue("id")
		j, err := ask(v, wire.Get, wire.IDIn{ID: id})
		if err != nil {
			return err
		}
		if j.Lock == nil || j.Lock.Digest != lock(v) {
			return v.job(id, "its lock files are others by now than those that you looked at")
		}
		return v.confirms("jobs", ConfirmView{Title: "Fetch what is new?", Does: "Fetch", Action: jobHref(id) + "/prepare", Problem: problem,
			Text: "Tandem fetches it from the registries that are named in the settings, compares it with the lock file, and runs no script " +
				"of it. Its check runs then, without the network.",
			Variant: "primary", Subject: strings.Join(append(j.Lock.Files, j.Lock.New...), ", "), Back: jobHref(id),
			Fields: []Hidden{{"lock", lock(v)}}})
	}
	p.get("/panel/jobs/{id}/prepare", func(v *visit) error { return asks(v, "") })
	perform(p, "/panel/jobs/{id}/prepare", wire.Prepare,
		func(v *visit) (wire.PrepareIn, error) {
			return wire.PrepareIn{ID: v.r.PathValue("id"), Lock: lock(v)}, nil
		},
		func(v *visit, _ wire.PrepareIn, j *wire.Job) error { return v.go303(jobHref(j.ID), "job-checked") },
		func(v *visit, err error) error { return asks(v, words(err)) })
}
