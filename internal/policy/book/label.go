package book

import (
	"context"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// LabelIn says which class of data lies in a tree.
type LabelIn struct {
	Resource string `json:"resource" jsonschema:"the tree: kind:/path, e.g. folder:/home/me/customers"`
	Class    string `json:"class,omitempty" jsonschema:"e.g. confidential, customer_data, source_code; left out, the label is taken off"`
	Note     string `json:"note,omitempty"`
}

// LabelView is a label as people read it.
type LabelView struct {
	Resource string `json:"resource"`
	Class    string `json:"class"`
	Written  string `json:"written,omitempty" jsonschema:"the path as it was written, where links in it led to the resource"`
}

// LabelOut is the new version with all its labels.
type LabelOut struct {
	Version int64       `json:"version"`
	Labels  []LabelView `json:"labels"`
}

func labelViews(labels []policy.Label) []LabelView {
	out := []LabelView{}
	for _, l := range labels {
		out = append(out, LabelView{l.Resource.String(), string(l.Class), l.Resource.Written})
	}
	return out
}

func (b *Book) label(ctx context.Context, tx *db.Tx, in LabelIn) (LabelOut, error) {
	c := op.CallerFrom(ctx)
	at, err := policy.ParseResource(in.Resource)
	if err != nil {
		return LabelOut{}, refusal("policy.label", err)
	}
	written := at
	at = real(at)
	v, err := next(tx, c.Tenant, "label", at.String(), in.Note, c.Name) // locks the policy
	if err != nil {
		return LabelOut{}, err
	}
	rules, d, lost, err := b.rulesNow(ctx, tx, c.Tenant)
	if err != nil {
		return LabelOut{}, err
	}
	if lost {
		return LabelOut{}, fault.New(fault.Conflict, "policy.label", "the rules that the journal vouches for are gone from the database").
			WithNext("write them again: tandem policy edit")
	}
	was := len(d.Labels)
	d.Labels = slices.DeleteFunc(d.Labels, func(l policy.Label) bool {
		return l.Resource.Kind == at.Kind && (l.Resource.Path == at.Path || l.Resource.Path == written.Path || l.Resource.Written == written.Path)
	})
	switch {
	case in.Class != "":
		d.Labels = append(d.Labels, policy.Label{Resource: at, Class: policy.DataClass(in.Class)})
	case len(d.Labels) == was:
		return LabelOut{}, fault.New(fault.NotFound, "policy.label", "%s has no label", at).WithNext("see them: tandem policy label")
	}
	if err := putRules(ctx, tx, c.Tenant, v, rules, d); err != nil {
		return LabelOut{}, err
	}
	if _, err := b.check(ctx, tx, c.Tenant, "policy.label"); err != nil {
		return LabelOut{}, err
	}
	op.Note(ctx, "version", v)
	b.changed(tx, c.Tenant)
	return LabelOut{v, labelViews(d.Labels)}, nil
}
