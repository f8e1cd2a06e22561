package panel

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
	"tandem/internal/resource/wire"
	"tandem/internal/told"
)

func resourcesNav() page {
	return page{id: "resources", label: "Resources", href: "/panel/resources", icon: "resources", key: "g r", needs: string(wire.List),
		routes: func(p *Panel) {
			p.get("/panel/resources", func(v *visit) error { return v.resources(v.query("key"), "") })
			again := func(v *visit, err error) error { return v.resources(formKey(v), words(err)) }
			perform(p, "/panel/resources", wire.Put, putInput,
				func(v *visit, in wire.PutIn, _ wire.PutOut) error { return v.go303(resourceHref("", in.Key), "put") }, again)
			perform(p, "/panel/resources/delete", wire.Delete, deleteInput,
				func(v *visit, _ wire.DeleteIn, _ wire.DeleteOut) error { return v.go303("/panel/resources", "deleted") }, again)
		}}
}

// ResourceRow is a shared key.
type ResourceRow struct {
	Key     string
	Value   string // as JSON
	Rev     int64
	Owner   string
	Fence   int64
	Expires time.Time // zero: it stays
	By      string
	At      time.Time
}

// ResourcesView is the shared keys, and one of them beside the list.
type ResourcesView struct {
	Now      time.Time
	Prefix   string
	Rows     []ResourceRow
	Selected *ResourceRow
	More     bool // there are more keys than are shown
	Problem  string
}

func resourceHref(prefix, key string) string {
	q := url.Values{"key": {key}}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	return "/panel/resources?" + q.Encode()
}

func (r ResourceRow) pairs() []ui.Pair {
	ends := "never"
	if !r.Expires.IsZero() {
		ends = ui.Stamp(r.Expires)
	}
	return []ui.Pair{
		{Key: "Revision", Value: strconv.FormatInt(r.Rev, 10)},
		{Key: "Owner", Value: r.Owner},
		{Key: "Fencing token", Value: strconv.FormatInt(r.Fence, 10), Mono: true},
		{Key: "Ends", Value: ends},
		{Key: "Changed", Value: ui.Stamp(r.At)},
		{Key: "By", Value: r.By},
	}
}

func resourceRow(r *wire.Resource) ResourceRow {
	return ResourceRow{Key: r.Key, Value: string(r.Value), Rev: r.Rev, Owner: told.By(r.Owner), Fence: r.Fence,
		Expires: orZero(r.ExpiresAt), By: told.By(r.UpdatedBy), At: r.UpdatedAt}
}

func (v *visit) resources(key, problem string) error {
	out := ResourcesView{Now: v.now(), Prefix: v.query("prefix"), Problem: problem}
	list, err := ask(v, wire.List, wire.ListIn{Prefix: out.Prefix, Limit: 500})
	if err != nil {
		return err
	}
	out.More = list.More
	for _, r := range list.Items {
		out.Rows = append(out.Rows, resourceRow(r))
	}
	if key != "" {
		r, err := ask(v, wire.Get, wire.KeyIn{Key: key})
		switch {
		case err == nil:
			row := resourceRow(r)
			row.Value = pretty(r.Value)
			out.Selected = &row
		case fault.Is(err, fault.Internal):
			return err
		case problem == "":
			out.Problem = words(err)
		}
	}
	s := v.shell("resources", "Resources")
	s.Here = "/panel/resources"
	if key != "" || out.Prefix != "" {
		s.Here = resourceHref(out.Prefix, key)
	}
	return v.show(resourcesPage(s, out))
}

// formKey is the key a form is about: escaped where it was not typed, so that
// hidden characters survive the way.
func formKey(v *visit) string {
	if k, err := url.PathUnescape(v.r.PostFormValue("known")); err == nil && k != "" {
		return k
	}
	return v.r.PostFormValue("key")
}

func putInput(v *visit) (wire.PutIn, error) {
	in := wire.PutIn{Key: formKey(v), Value: json.RawMessage(strings.TrimSpace(v.r.PostFormValue("value"))),
		Own: v.r.PostFormValue("own") != ""}
	if !json.Valid(in.Value) {
		return in, fault.New(fault.Invalid, "resource.put", "the value is not JSON").
			WithNext("write a text in quotes, a number, true, a list or an object")
	}
	if t := strings.TrimSpace(v.r.PostFormValue("ttl")); t != "" {
		secs, err := strconv.ParseInt(t, 10, 32)
		if err != nil || secs < 1 {
			return in, fault.New(fault.Invalid, "resource.put", "%q is not a number of seconds", ui.Short(t, 20))
		}
		in.TTL = secs * 1000
	}
	rev, err := formRev(v)
	in.IfMatch, in.IfAbsent = rev, rev == nil
	return in, err
}

func formRev(v *visit) (*int64, error) {
	text := v.r.PostFormValue("rev")
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fault.New(fault.Invalid, "panel", "the form names no revision").WithNext("reload the page")
	}
	return &n, nil
}

func deleteInput(v *visit) (wire.DeleteIn, error) {
	rev, err := formRev(v)
	return wire.DeleteIn{Key: formKey(v), IfMatch: rev}, err
}
