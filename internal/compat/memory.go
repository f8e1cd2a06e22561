package compat

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
)

// memoryRoutes are those of the clients' memory. What they put is proposed, as everything is that no person who is present says: it is
// found once a person has promoted it.
var memoryRoutes = map[string]handler{
	"POST /memory/put":                     putMemory,
	"POST /memory/search":                  searchMemory,
	"GET /memory":                          listMemory,
	"POST /memory/import":                  importMemory,
	"POST /memory/promote":                 func(q *request) (any, error) { return moveMemory(q, "memory.promote") },
	"POST /memory/demote":                  func(q *request) (any, error) { return moveMemory(q, "memory.demote") },
	"GET /memory/audit":                    auditMemory,
	"POST /memory/context/resolve":         resolveMemory,
	"GET /memory/context/tree":             memoryTree,
	"POST /memory/context/layers/generate": memoryLayers,
	"POST /memory/context/distill":         distillMemory,
}

// memory is a record, as far as the clients know one.
type memory struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	Kind      string    `json:"kind"`
	Tier      string    `json:"tier"`
	Of        string    `json:"of"`
	State     string    `json:"state"`
	Trust     string    `json:"trust"`
	Labels    []string  `json:"labels"`
	Owner     string    `json:"owner"`
	Score     float64   `json:"score"`
	MadeAt    time.Time `json:"made_at"`
	ChangedAt time.Time `json:"changed_at"`
}

func (m memory) item() obj {
	tags := m.Labels
	if tags == nil {
		tags = []string{}
	}
	out := obj{"id": m.ID, "text": m.Text, "content": m.Text, "kind": m.Kind, "tier": m.published(), "state": m.State, "trust": m.Trust,
		"tags": tags, "user_id": m.Owner, "source_type": "record", "created_at_ms": ms(m.MadeAt), "updated_at_ms": ms(m.ChangedAt)}
	if m.Score != 0 {
		out["score"] = m.Score
	}
	return out
}

// published is what the clients call a tier.
func (m memory) published() string {
	if m.Tier == "team" {
		return "global"
	}
	return m.Tier
}

// tags are words as our labels are written.
func tags(words []string) (out []string) {
	for _, w := range words {
		w = strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
				return r
			}
			return '-'
		}, strings.ToLower(w)), ".-")
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func putMemory(q *request) (any, error) {
	text, err := q.text("text", "content")
	var words []string
	var where struct {
		Tier    string `json:"tier"`
		Project string `json:"project_id"`
	}
	var kind string
	for _, e := range []error{q.get(&words, "tags"), q.get(&where, "partition"), q.get(&kind, "kind")} {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	in := obj{"text": text, "labels": tags(words)}
	if slices.Contains([]string{"fact", "decision", "lesson", "preference", "note"}, kind) {
		in["kind"] = kind
	}
	if where.Tier == "project" && where.Project != "" {
		in["tier"], in["of"] = "project", where.Project
	}
	var out memory
	if err := q.call("memory.propose", in, &out); err != nil {
		return nil, err
	}
	return obj{"id": out.ID, "ok": true, "stored": true, "tier": out.published(), "state": out.State, "trust": out.Trust}, nil
}

func (q *request) found(query string, limit int, words []string) ([]any, error) {
	in := obj{"query": query, "only": "records"}
	if limit > 0 {
		in["limit"] = min(limit, 50)
	}
	if labels := tags(words); len(labels) > 0 {
		in["label"] = labels[0]
	}
	var out struct{ Hits []memory }
	if err := q.call("memory.search", in, &out); err != nil {
		return nil, err
	}
	items := []any{}
	for _, m := range out.Hits {
		items = append(items, m.item())
	}
	return items, nil
}

func searchMemory(q *request) (any, error) {
	query, err := q.text("query", "q")
	limit, words := 0, []string{}
	for _, e := range []error{q.get(&limit, "limit"), q.get(&words, "tags")} {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	items, err := q.found(query, limit, words)
	return obj{"results": items, "count": len(items)}, err
}

func listMemory(q *request) (any, error) {
	v := q.URL.Query()
	limit, offset := min(max(number(v.Get("limit"), 50), 1), 200), number(v.Get("offset"), 0)
	items := []any{}
	if query := v.Get("q"); query != "" {
		found, err := q.found(query, min(limit+offset, 50), nil)
		if err != nil {
			return nil, err
		}
		items = append(items, found[min(offset, len(found)):]...)
	} else {
		before, skip := "", offset
		for len(items) < limit {
			var page struct {
				Records []memory
				More    bool
			}
			if err := q.call("memory.list", obj{"limit": 200, "before": before}, &page); err != nil {
				return nil, err
			}
			for _, m := range page.Records {
				before = m.ID
				if skip--; skip < 0 && len(items) < limit {
					items = append(items, m.item())
				}
			}
			if !page.More {
				break
			}
		}
	}
	return obj{"items": items, "count": len(items), "offset": offset, "limit": limit}, nil
}

// importMemory imports a folder that a person bound. One that nobody bound needs that person: the refusal says so.
func importMemory(q *request) (any, error) {
	var from struct{ Path string }
	if err := q.get(&from, "source"); err != nil {
		return nil, err
	}
	if from.Path == "" {
		return nil, fault.New(fault.Invalid, "memory.import", "which path? source.path is missing").
			WithNext("to bring an export of tandem's: POST /memory/records, or tandem memory import FILE")
	}
	type source struct {
		Name, Folder, State string
		Files, Bad          int
	}
	var all struct{ Sources []source }
	if err := q.call("source.list", obj{}, &all); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.Sources, func(s source) bool { return s.Folder == filepath.Clean(from.Path) })
	if i < 0 {
		return nil, fault.New(fault.Denied, "memory.import", "nobody bound the folder %.200s yet, and only a person does that", from.Path).
			WithNext("tandem source add FOLDER, then tandem source resume NAME")
	}
	var s source
	if err := q.call("source.sync", obj{"name": all.Sources[i].Name}, &s); err != nil {
		return nil, err
	}
	known := all.Sources[i]
	return obj{"ok": true, "source": obj{"kind": "path", "path": from.Path}, "source_binding_id": s.Name, "state": s.State,
		"sync_deletes": true, "discovered_files": known.Files + known.Bad, "indexed_files": known.Files, "skipped_files": known.Bad}, nil
}

func moveMemory(q *request, operation string) (any, error) {
	id, err := q.text("id", "source_memory_id")
	if err != nil {
		return nil, err
	}
	in := obj{"id": id}
	var out memory
	if err := q.call(operation, in, &out); err != nil {
		return nil, err
	}
	return obj{"ok": true, "id": out.ID, "promoted": out.State == "live", "demoted": out.State != "live", "new_memory_id": out.ID,
		"to_tier": out.published(), "state": out.State}, nil
}

func auditMemory(q *request) (any, error) {
	var page struct {
		Entries []struct {
			Seq   int64
			Time  time.Time
			Type  string
			Phase string
			Actor string
		}
	}
	limit := min(max(number(q.URL.Query().Get("limit"), 100), 1), 1000)
	if err := q.call("audit.log", obj{"type": "memory.*", "newest": true, "limit": limit}, &page); err != nil {
		return nil, err
	}
	entries := []any{}
	for _, e := range page.Entries {
		entries = append(entries, obj{"id": strconv.FormatInt(e.Seq, 10), "ts_ms": ms(e.Time), "action": e.Type,
			"phase": e.Phase, "actor": e.Actor})
	}
	return obj{"entries": entries, "events": entries, "count": len(entries)}, nil
}

// What the clients call context is a tree of addresses: memory://TIER/ID. A record has one layer, its text.
const addresses = "memory://"

func (m memory) node() obj {
	return obj{"id": m.ID, "uri": addresses + m.published() + "/" + m.ID, "parent_uri": addresses + m.published(), "node_type": "memory",
		"created_at": m.MadeAt.Format(time.RFC3339), "updated_at": m.ChangedAt.Format(time.RFC3339),
		"metadata": obj{"kind": m.Kind, "trust": m.Trust}}
}

func resolveMemory(q *request) (any, error) {
	uri, err := q.text("uri")
	if err != nil {
		return nil, err
	}
	var m memory
	err = q.call("memory.show", obj{"id": uri[strings.LastIndexByte(uri, '/')+1:]}, &m)
	if fault.Is(err, fault.NotFound) {
		return obj{}, nil
	}
	if err != nil {
		return nil, err
	}
	return obj{"node": m.node()}, nil
}

func memoryTree(q *request) (any, error) {
	var page struct{ Records []memory }
	if err := q.call("memory.list", obj{"limit": 200}, &page); err != nil {
		return nil, err
	}
	tree := []any{}
	uri := strings.TrimSuffix(q.URL.Query().Get("uri"), "/")
	for _, m := range page.Records {
		if node := m.node(); strings.HasPrefix(node["uri"].(string)+"/", uri+"/") || !strings.HasPrefix(uri, addresses) {
			summary := obj{"has_l2": true, "l0_preview": firstWords(m.Text)}
			tree = append(tree, obj{"node": node, "children": []any{}, "layer_summary": summary})
		}
	}
	return obj{"tree": tree}, nil
}

func firstWords(s string) string {
	const most = 80
	if r := []rune(words(s)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return words(s)
}

// memoryLayers makes no summaries: nothing here calls a model that nobody asked for.
func memoryLayers(q *request) (any, error) {
	id, err := q.text("node_id")
	if err != nil {
		return nil, err
	}
	var m memory
	if err := q.call("memory.show", obj{"id": id}, &m); err != nil {
		return nil, err
	}
	return obj{"ok": true, "node_id": m.ID, "layers": []any{obj{"layer": "l2", "content": m.Text}}, "generated": 0}, nil
}

// distillMemory says how it is done here: a turn of a session, which somebody asks for and pays.
func distillMemory(q *request) (any, error) {
	session, err := q.text("session_id")
	if err != nil {
		return nil, err
	}
	return obj{"ok": false, "session_id": session, "facts_extracted": 0,
		"error": "distilling is a turn: prompt the session to propose what it learnt; it has the tool memory_propose"}, nil
}
