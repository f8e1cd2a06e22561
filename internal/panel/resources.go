package panel

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

func resourcesNav() page {
	return page{id: "resources", label: "Resources", href: "/panel/resources", icon: "resources", key: "g r", needs: "resource.list", routes: func(p *Panel) {
		p.get("/panel/resources", func(v *visit) error { return v.resources(v.query("key"), "") })
		p.act(act{pattern: "/panel/resources", op: "resource.put", input: putInput,
			done: func(v *visit, in any, _ json.RawMessage) error {
				return v.go303(resourceHref("", in.(putIn).Key), "put")
			},
			refused: func(v *visit, err error) error { return v.resources(formKey(v), words(err)) }})
		p.act(act{pattern: "/panel/resources/delete", op: "resource.delete", input: deleteInput,
			done:    func(v *visit, _ any, _ json.RawMessage) error { return v.go303("/panel/resources", "deleted") },
			refused: func(v *visit, err error) error { return v.resources(formKey(v), words(err)) }})
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

type wireResource struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Rev       int64           `json:"rev"`
	Fence     int64           `json:"fence"`
	Owner     string          `json:"owner"`
	UpdatedBy string          `json:"updated_by"`
	UpdatedAt time.Time       `json:"updated_at"`
	ExpiresAt *time.Time      `json:"expires_at"`
}

func (r wireResource) row() ResourceRow {
	return ResourceRow{Key: r.Key, Value: string(r.Value), Rev: r.Rev, Owner: r.Owner, Fence: r.Fence, Expires: orZero(r.ExpiresAt), By: r.UpdatedBy, At: r.UpdatedAt}
}

func (v *visit) resources(key, problem string) error {
	out := ResourcesView{Now: v.now(), Prefix: v.query("prefix"), Problem: problem}
	list, err := call[struct {
		Items []wireResource
		More  bool
	}](v, "resource.list", map[string]any{"prefix": out.Prefix, "limit": 500})
	if err != nil {
		return err
	}
	out.More = list.More
	for _, r := range list.Items {
		out.Rows = append(out.Rows, r.row())
	}
	if key != "" {
		r, err := call[wireResource](v, "resource.get", map[string]any{"key": key})
		switch {
		case err == nil:
			row := r.row()
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

type putIn struct {
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	IfMatch  *int64          `json:"if_match_rev,omitempty"`
	IfAbsent bool            `json:"if_absent,omitempty"`
	Own      bool            `json:"own,omitempty"`
	TTL      int64           `json:"ttl_ms,omitempty"`
}

func putInput(v *visit) (any, error) {
	in := putIn{Key: formKey(v), Value: json.RawMessage(strings.TrimSpace(v.r.PostFormValue("value"))), Own: v.r.PostFormValue("own") != ""}
	if !json.Valid(in.Value) {
		return nil, fault.New(fault.Invalid, "resource.put", "the value is not JSON").WithNext("write a text in quotes, a number, true, a list or an object")
	}
	if t := strings.TrimSpace(v.r.PostFormValue("ttl")); t != "" {
		secs, err := strconv.ParseInt(t, 10, 32)
		if err != nil || secs < 1 {
			return nil, fault.New(fault.Invalid, "resource.put", "%q is not a number of seconds", ui.Short(t, 20))
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

type deleteIn struct {
	Key     string `json:"key"`
	IfMatch *int64 `json:"if_match_rev,omitempty"`
}

func deleteInput(v *visit) (any, error) {
	rev, err := formRev(v)
	return deleteIn{formKey(v), rev}, err
}
