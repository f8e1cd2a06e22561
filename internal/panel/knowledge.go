package panel

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"tandem/internal/knowledge/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func knowledgeNav() page {
	return page{id: "knowledge", label: "Knowledge", href: knowledgeAt, icon: "knowledge", key: "g q", needs: string(wire.List),
		routes: knowledgeRoutes}
}

const (
	knowledgeAt    = "/panel/knowledge"
	knowledgeItems = "/panel/knowledge-items"
)

func knowledgeHref(name string) string { return knowledgeAt + "/" + pathEscape(name) }

func knowledgeItemHref(id string) string { return knowledgeItems + "/" + pathEscape(id) }

func knowledgeRoutes(p *Panel) {
	field := func(v *visit, name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	several := func(v *visit, name string) []string {
		return strings.Fields(strings.ReplaceAll(field(v, name), ",", " "))
	}

	p.get(knowledgeAt, func(v *visit) error { return v.knowledge("") })
	perform(p, knowledgeAt, wire.Create, func(v *visit) (wire.CreateIn, error) {
		days, err := wholeNumber(field(v, "days"), "days")
		return wire.CreateIn{Name: field(v, "name"), Purpose: field(v, "purpose"), Readers: several(v, "readers"),
			Trust: wire.Trust(field(v, "trust")),
			Days:  days}, err
	}, func(v *visit, in wire.CreateIn, _ wire.Space) error {
		return v.go303(knowledgeHref(in.Name), "knowledge-made")
	},
		func(v *visit, err error) error { return v.knowledge(words(err)) })

	p.get(knowledgeAt+"/{name}", func(v *visit) error { return v.knowledgeSpace(v.r.PathValue("name"), "") })
	perform(p, knowledgeAt+"/{name}/add", wire.Add, func(v *visit) (wire.AddIn, error) {
		in := wire.AddIn{Name: v.r.PathValue("name"), Title: field(v, "title"), Summary: field(v, "summary"), Body: field(v, "body"),
			Covers: several(v, "covers"), Key: field(v, "key")}
		if from := field(v, "source"); from != "" {
			kind, ref, _ := strings.Cut(from, ":")
			in.Sources = []wire.Source{{Kind: kind, Ref: ref}}
		}
		return in, nil
	}, func(v *visit, _ wire.AddIn, out wire.Changed) error {
		return v.go303(knowledgeItemHref(out.ID), "knowledge-added")
	},
		func(v *visit, err error) error { return v.knowledgeSpace(v.r.PathValue("name"), words(err)) })
	confirm(p, wire.Close, func(id string) wire.NameIn { return wire.NameIn{Name: id} }, confirmed{path: knowledgeAt + "/{id}/remove",
		title: "Delete this knowledge space?", text: "All of its items are deleted with their texts. This cannot be undone.",
		does: "Delete it", back: knowledgeAt, said: "knowledge-closed", nav: "knowledge"})

	again := func(v *visit, err error) error { return v.knowledgeItem(v.r.PathValue("id"), words(err)) }
	p.get(knowledgeItems+"/{id}", func(v *visit) error { return v.knowledgeItem(v.r.PathValue("id"), "") })
	perform(p, knowledgeItems+"/{id}/promote", wire.Promote, func(v *visit) (wire.PromoteIn, error) {
		version, err := versionIn(v)
		return wire.PromoteIn{ID: v.r.PathValue("id"), Default: field(v, "default") != "", Version: version}, err
	}, func(v *visit, _ wire.PromoteIn, out wire.Changed) error {
		return v.go303(knowledgeItemHref(out.ID), "knowledge-promoted")
	}, again)
	perform(p, knowledgeItems+"/{id}/deprecate", wire.Deprecate, func(v *visit) (wire.DeprecateIn, error) {
		return wire.DeprecateIn{ID: v.r.PathValue("id"), Reason: field(v, "reason")}, nil
	}, func(v *visit, _ wire.DeprecateIn, out wire.Changed) error {
		return v.go303(knowledgeItemHref(out.ID), "knowledge-deprecated")
	}, again)
	confirm(p, wire.Remove, func(id string) wire.ItemIn { return wire.ItemIn{ID: id} }, confirmed{path: knowledgeItems + "/{id}/remove",
		title: "Delete this item?", text: "Its text is deleted, in the database, too. This cannot be undone.",
		does: "Delete it", back: knowledgeAt, said: "knowledge-gone", nav: "knowledge"})
}

// KnowledgeView is the knowledge spaces, and what they answer to a question.
type KnowledgeView struct {
	Question string
	Answer   *AnswerView
	Rows     []wire.Space
	May      bool // make them
	PIN      bool
	Passkeys int
	Problem  string
	Kept     url.Values
}

// AnswerView is what was answered to a question.
type AnswerView struct {
	Now    time.Time
	Known  bool
	Stale  bool
	Looked string
	Items  []wire.Cited
}

func (v *visit) knowledge(problem string) error {
	list, err := ask(v, wire.List, wire.ListIn{})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := KnowledgeView{Question: strings.TrimSpace(v.query("q")), Rows: list.Spaces, May: v.has(string(wire.Create)), PIN: m.PIN,
		Passkeys: m.Passkeys, Problem: problem, Kept: v.refilled(knowledgeAt)}
	if out.Question != "" {
		a, err := ask(v, wire.Ask, wire.AskIn{Question: out.Question})
		if err != nil {
			return err
		}
		out.Answer = &AnswerView{Now: v.now(), Known: a.Known, Stale: a.Stale, Looked: strings.Join(a.Looked, ", "), Items: a.Items}
	}
	s := v.shell("knowledge", "Knowledge")
	s.Here = knowledgeAt
	if out.Question != "" {
		s.Here += "?" + url.Values{"q": {out.Question}}.Encode()
	}
	return v.show(knowledgePage(s, out))
}

// KnowledgeSpaceView is one knowledge space with its items.
type KnowledgeSpaceView struct {
	Now     time.Time
	Name    string
	Purpose string
	Facts   []ui.Pair
	State   wire.State
	Items   []wire.Entry
	Working int
	Older   string
	May     bool // add to it
	Owns    bool
	Problem string
	Kept    url.Values
}

func (v *visit) knowledgeSpace(name, problem string) error {
	state := wire.State(v.query("state"))
	k, err := ask(v, wire.Show, wire.ShowIn{Name: name, State: state, Before: v.query("before")})
	if err != nil {
		return err
	}
	out := KnowledgeSpaceView{Now: v.now(), Name: k.Name, Purpose: k.Purpose, State: state, Items: k.Items, Working: k.Working,
		May: v.has(string(wire.Add)), Owns: v.has(string(wire.Close)), Problem: problem, Facts: knowledgeFacts(k.Space),
		Kept: v.refilled(knowledgeHref(name))}
	if n := len(k.Items); k.More && n > 0 {
		out.Older = knowledgeHref(name) + "?" + url.Values{"state": {string(state)}, "before": {k.Items[n-1].ID}}.Encode()
	}
	s := v.shell("knowledge", k.Name)
	s.Here = knowledgeHref(name)
	s.Back = &ui.Crumb{Label: "Knowledge", Href: knowledgeAt}
	return v.show(knowledgeSpacePage(s, out))
}

func knowledgeFacts(k wire.Space) []ui.Pair {
	readers, fresh, trust := "whoever policy lets", "always", "a person has read it"
	if len(k.Readers) > 0 {
		readers = strings.Join(k.Readers, ", ") + ", and its owners"
	}
	if k.Days > 0 {
		fresh = plural(k.Days, "day", "days") + " after a person looked at it"
	}
	if k.Trust == wire.Sourced {
		trust += ", and it names where it comes from"
	}
	return []ui.Pair{{Key: "Owners", Value: strings.Join(k.Owners, ", ")}, {Key: "Readers", Value: readers},
		{Key: "An item answers when", Value: trust}, {Key: "It is fresh", Value: fresh}, {Key: "Answer", Value: plural(k.Answers,
			"item", "items")},
		{Key: "Wait for a person", Value: plural(k.Working, "item", "items")}}
}

func (v KnowledgeSpaceView) tabs() []ui.Tab {
	href := func(state wire.State) string {
		return knowledgeHref(v.Name) + "?" + url.Values{"state": {string(state)}}.Encode()
	}
	return []ui.Tab{{Label: "All", Href: href(""), Active: v.State == ""},
		{Label: "Working", Href: href(wire.Working), Count: v.Working, Active: v.State == wire.Working},
		{Label: "Default", Href: href(wire.Default), Active: v.State == wire.Default},
		{Label: "Deprecated", Href: href(wire.Deprecated), Active: v.State == wire.Deprecated}}
}

// KnowledgeItemView is one item.
type KnowledgeItemView struct {
	Now      time.Time
	Item     wire.Entry
	Facts    []ui.Pair
	May      bool // promote and deprecate it
	PIN      bool
	Passkeys int
	Problem  string
}

func (v *visit) knowledgeItem(id, problem string) error {
	i, err := ask(v, wire.Item, wire.ItemIn{ID: id})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := KnowledgeItemView{Now: v.now(), Item: i, Facts: knowledgeItemFacts(i), May: v.has(string(wire.Promote)), PIN: m.PIN,
		Passkeys: m.Passkeys,
		Problem:  problem}
	s := v.shell("knowledge", i.Title)
	s.Here = knowledgeItemHref(id)
	s.Back = &ui.Crumb{Label: i.Space, Href: knowledgeHref(i.Space)}
	return v.show(knowledgeItemPage(s, out))
}

func knowledgeItemFacts(i wire.Entry) []ui.Pair {
	out := []ui.Pair{{Key: "Id", Value: i.ID, Mono: true, Copy: true}, {Key: "Knowledge space", Value: i.Space}, {Key: "Written by",
		Value: told.By(i.Author)},
		{Key: "Version", Value: fmt.Sprint(i.Version)}}
	more := func(key, value string) {
		if value != "" {
			out = append(out, ui.Pair{Key: key, Value: value})
		}
	}
	more("Covers", strings.Join(i.Covers, ", "))
	more("Key", i.Key)
	more("Last decided by", told.By(i.By))
	if !i.FreshUntil.IsZero() {
		more("Fresh until", ui.Stamp(i.FreshUntil))
	}
	more("Reason", i.Reason)
	more("In its place", i.ReplacedBy)
	for _, s := range i.Sources {
		more("From", strings.TrimSpace(s.Kind+" "+s.Ref+" "+s.Place))
	}
	return out
}

func entryTone(i wire.Entry) ui.Tone {
	switch {
	case i.Stale || i.State == wire.Working:
		return ui.Warn
	case i.State == wire.Deprecated:
		return ui.Quiet
	}
	return ui.Good
}

func entryState(i wire.Entry) string {
	if i.Stale {
		return string(i.State) + ", stale"
	}
	return string(i.State)
}
