package panel

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/artifact/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
	"tandem/internal/unified"
)

// artifactRoutes are the pages about what automations made. They belong to the page of automations.
func artifactRoutes(p *Panel) {
	p.get("/panel/artifacts", (*visit).artifacts)
	p.get("/panel/artifacts/{name}", (*visit).artifact)
	p.get("/panel/artifacts/{name}/file", (*visit).saveArtifact)
	p.get("/panel/artifacts/{name}/look", (*visit).lookAtArtifact)
}

func artifactHref(name string, version int) string {
	href := "/panel/artifacts/" + pathEscape(name)
	if version > 0 {
		href += "?version=" + strconv.Itoa(version)
	}
	return href
}

// ArtifactsView is the newest version of each artifact.
type ArtifactsView struct {
	Now  time.Time
	Rows []*wire.Artifact
}

func (v *visit) artifacts() error {
	list, err := ask(v, wire.List, wire.ListIn{})
	if err != nil {
		return err
	}
	s := v.shell("automations", "Artifacts")
	s.Back = &ui.Crumb{Label: "Automations", Href: "/panel/automations"}
	return v.show(artifactsPage(s, ArtifactsView{Now: v.now(), Rows: list.Artifacts}))
}

// ArtifactView is one version, beside all others.
type ArtifactView struct {
	Now      time.Time
	Name     string
	Version  int
	Kind     string
	Text     string
	Cut      bool
	Facts    []ui.Pair
	Versions []*wire.Artifact
	Changes  []unified.File
	Against  int  // the version before this one; 0 when there is none
	Same     bool // as that
}

func (v *visit) artifact() error {
	name := v.r.PathValue("name")
	a, err := ask(v, wire.Show, wire.OneIn{Name: name, Version: v.version()})
	if err != nil {
		return err
	}
	all, err := ask(v, wire.List, wire.ListIn{Name: name})
	if err != nil {
		return err
	}
	out := ArtifactView{Now: v.now(), Name: a.Name, Version: a.Version, Kind: a.Kind, Text: a.Text, Cut: a.Cut, Versions: all.Artifacts,
		Facts: artifactFacts(&a.Artifact)}
	if slices.ContainsFunc(all.Artifacts, func(o *wire.Artifact) bool { return o.Version < a.Version }) {
		both, err := ask(v, wire.Compare, wire.CompareIn{Name: name, To: a.Version})
		if err != nil {
			return err
		}
		out.Against, out.Same = both.From.Version, both.Same
		if both.Diff != "" {
			out.Changes = unified.Parse("--- " + name + "\n+++ " + name + "\n" + both.Diff)
		}
	}
	s := v.shell("automations", name)
	s.Back = &ui.Crumb{Label: "Artifacts", Href: "/panel/artifacts"}
	return v.show(artifactPage(s, out))
}

func (v *visit) version() int {
	n, _ := strconv.Atoi(v.query("version")) // what is no number is the newest
	return max(0, n)
}

func artifactFacts(a *wire.Artifact) []ui.Pair {
	made := told.By(a.MadeBy)
	if a.AI {
		made += ", a model had a hand in it"
	}
	out := []ui.Pair{{Key: "Kind", Value: a.Kind + ", " + bytesFor(int64(a.Size))}, {Key: "Made by", Value: made},
		{Key: "Run", Value: a.Run, Mono: true}, {Key: "Node", Value: a.Node + ", attempt " + strconv.Itoa(a.Attempt)}}
	for _, i := range a.Inputs {
		out = append(out, ui.Pair{Key: "From " + i.Name, Value: i.From})
	}
	if len(a.Checks) > 0 {
		out = append(out, ui.Pair{Key: "Passed", Value: strings.Join(a.Checks, ", ")})
	}
	return append(out, ui.Pair{Key: "SHA-256", Value: a.Digest, Mono: true, Copy: true})
}

// saveArtifact gives the browser an artifact to save: as bytes, never as a page.
func (v *visit) saveArtifact() error {
	got, err := ask(v, wire.Get, wire.OneIn{Name: v.r.PathValue("name"), Version: v.version()})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": got.File}))
	_, err = v.w.Write(got.Data)
	return err
}

// artifactCSP lets a page that an automation made draw itself and nothing else: no script, no request, no form, no origin.
const artifactCSP = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// lookAtArtifact shows an HTML page that an automation made.
func (v *visit) lookAtArtifact() error {
	got, err := ask(v, wire.Get, wire.OneIn{Name: v.r.PathValue("name"), Version: v.version()})
	if err != nil {
		return err
	}
	if got.Kind != "html" {
		http.Redirect(v.w, v.r, artifactHref(got.Name, got.Version), http.StatusSeeOther)
		return nil
	}
	v.w.Header().Set("Content-Security-Policy", artifactCSP)
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = v.w.Write(got.Data)
	return err
}
