package pack

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/pack/wire"
	"tandem/internal/repo/diff"
)

// preview says what a pack would be allowed.
func (r *Room) preview(ctx context.Context, p wire.Pack) (wire.PreviewOut, error) {
	out := wire.PreviewOut{Name: p.Name, Digest: p.Digest(), May: []wire.May{}}
	if err := check(p); err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for _, a := range p.Automations {
		v, err := r.Shown(ctx, a.Text)
		if err != nil {
			return out, fault.New(fault.Invalid, string(wire.Preview), "automation %s: %w", a.Name, err)
		}
		if v.Name != a.Name {
			return out, fault.New(fault.Invalid, string(wire.Preview), "the file of the automation %s says that its name is %s", a.Name, v.Name)
		}
		whose := "automation " + a.Name
		for _, t := range v.Triggers {
			out.May = append(out.May, wire.May{Whose: whose, What: "begins: " + t})
		}
		for _, m := range v.May {
			out.May = append(out.May, wire.May{Whose: whose, What: m.Node + ": " + m.What})
		}
		for _, no := range v.Unbuilt {
			out.Cannot = append(out.Cannot, whose+": "+no)
		}
		for _, f := range v.Ungranted {
			if !seen[f] {
				out.Ungranted = append(out.Ungranted, f)
			}
			seen[f] = true
		}
	}
	for _, g := range p.Grants {
		effect := g.Effect
		if effect == "" {
			effect = "allow"
		}
		what := fmt.Sprintf("%s %s on %s", effect, strings.Join(g.Permissions, ", "), g.Resource)
		if len(g.Tools) > 0 {
			what += ", with the tools " + strings.Join(g.Tools, ", ")
		}
		out.May = append(out.May, wire.May{Whose: "automation " + g.Automation, What: "is granted: " + what})
	}
	for _, s := range p.Knowledge {
		out.May = append(out.May, wire.May{Whose: "knowledge " + s.Name,
			What: documents(len(s.Items)) + " nobody until somebody promotes them"})
	}
	before, err := find(outside{ctx, r}, op.CallerFrom(ctx).Tenant, p.Name)
	if err != nil || before == nil {
		return out, err
	}
	if out.Installed = before.Digest; out.Installed != out.Digest {
		if before.pack, err = r.shown(ctx, before.pack); err != nil {
			return out, err
		}
		out.Changes = diff.Unified([]byte(written(before.pack)), []byte(written(p)), 3)
	}
	return out, nil
}

// hidden stands for what is installed and not the caller's to read.
const hidden = "(not yours to read)"

// shown is an installed pack as far as the caller may read what came with it.
func (r *Room) shown(ctx context.Context, p wire.Pack) (wire.Pack, error) {
	p.Automations, p.Grants, p.Knowledge = slices.Clone(p.Automations), slices.Clone(p.Grants), slices.Clone(p.Knowledge)
	for i, a := range p.Automations {
		if !op.May(ctx, "automation.read", at(a.Name)) {
			p.Automations[i].Text = hidden
			p.Grants = slices.DeleteFunc(p.Grants, func(g wire.Grant) bool { return g.Automation == a.Name })
		}
	}
	for i, s := range p.Knowledge {
		reads, err := r.Reads(ctx, s.Name)
		if err != nil {
			return p, err
		}
		if !reads {
			p.Knowledge[i] = wire.Space{Name: s.Name, Purpose: hidden}
		}
	}
	return p, nil
}

// outside reads without a change.
type outside struct {
	ctx context.Context
	r   *Room
}

// QueryRow reads one row.
func (o outside) QueryRow(query string, args ...any) *sql.Row {
	return o.r.DB.QueryRow(o.ctx, query, args...)
}

// written is a pack as one text, to be compared.
func written(p wire.Pack) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %q\nversion = %q\ntitle = %q\nabout = %q\n", p.Name, p.Version, p.Title, p.About)
	for _, a := range p.Automations {
		fmt.Fprintf(&b, "\n== automation %s\n%s\n", a.Name, strings.TrimSpace(a.Text))
	}
	for _, g := range p.Grants {
		fmt.Fprintf(&b, "\n== grant to %s\n%s %s on %s %s\n%s\n", g.Automation, g.Effect, strings.Join(g.Permissions, ", "), g.Resource,
			strings.Join(g.Tools, ", "), g.Note)
	}
	for _, s := range p.Knowledge {
		fmt.Fprintf(&b, "\n== knowledge %s\n%s\n", s.Name, s.Purpose)
		for _, i := range s.Items {
			fmt.Fprintf(&b, "\n-- %s: %s\n%s\n", i.Key, i.Title, strings.TrimSpace(i.Body))
		}
	}
	return b.String()
}

func documents(n int) string {
	if n == 1 {
		return "1 document, which answers"
	}
	return fmt.Sprintf("%d documents, which answer", n)
}
