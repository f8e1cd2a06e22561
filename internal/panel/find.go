package panel

import (
	"net/url"
	"strings"
	"unicode/utf8"

	server "tandem/internal/server/wire"
	"tandem/internal/space/peer"

	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/session"
	"tandem/internal/session/relay"
)

// Found is a thing that the finder leads to.
type Found struct{ Kind, Icon, Name, About, Href string }

// foundMost is how many of a kind are offered: whoever sees more types more.
const foundMost = 8

// finder answers Ctrl K with the things whose names hold all words that were typed. What the visitor may not list is not found,
// and what cannot be asked right now is left out: the pages themselves say why.
func (v *visit) finder() error {
	var found []Found
	query := strings.TrimSpace(v.query("q"))
	if n := utf8.RuneCountInString(query); n >= 2 && n <= 200 {
		words := strings.Fields(strings.ToLower(query))
		for _, things := range []func(string) []Found{v.foundSessions, v.foundJobs, v.foundAutomations, v.foundSpaces, v.foundTasks, v.foundRepos,
			v.foundRelays, v.foundPeople, v.foundActors, v.foundSettings, v.foundMemory} {
			found = append(found, first(things(query), words)...)
		}
	}
	return v.show(foundList(found))
}

// first are the first things that hold all words.
func first(things []Found, words []string) (out []Found) {
	for _, f := range things {
		text := strings.ToLower(f.Kind + " " + f.Name + " " + f.About)
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all && len(out) < foundMost {
			out = append(out, f)
		}
	}
	return out
}

func (v *visit) foundSessions(query string) (out []Found) {
	if !v.has(string(session.SessionList)) {
		return nil
	}
	seen := map[string]bool{}
	for _, q := range []string{"", query} { // the newest, and older ones that are called so
		list, err := ask(v, session.SessionList, session.ListIn{Query: q, Limit: 200})
		if err != nil {
			return out
		}
		for _, s := range list.Sessions {
			if !seen[s.ID] {
				seen[s.ID] = true
				out = append(out, Found{"session", "session", s.Title, s.Directory, sessionHref(s.ID)})
			}
		}
	}
	return out
}

func (v *visit) foundSpaces(string) (out []Found) {
	if !v.has(string(peer.SpaceList)) {
		return nil
	}
	mine, _ := v.mySeats()
	for _, s := range mine {
		out = append(out, Found{"space", "spaces", s.Title, "as " + s.Me, "/panel/spaces?" + url.Values{"space": {s.Space}}.Encode()})
	}
	return out
}

func (v *visit) foundTasks(string) (out []Found) {
	if !v.has(string(peer.BoardShow)) {
		return nil
	}
	mine, _ := v.mySeats()
	for _, s := range mine {
		list, err := ask(v, peer.BoardShow, peer.BoardIn{All: true, Which: peer.Which{Space: s.Space}})
		if err != nil {
			continue
		}
		for _, t := range list.Tasks {
			out = append(out, Found{"task", "board", peersWords(t.Title), string(t.ID) + " " + string(t.Status) + ", " + s.Title,
				taskHref(string(t.ID)) + "?" + url.Values{"space": {s.Space}}.Encode()})
		}
	}
	return out
}

func (v *visit) foundRepos(string) (out []Found) {
	if !v.has(string(host.RepoList)) {
		return nil
	}
	list, _ := ask(v, host.RepoList, struct{}{})
	for _, r := range list.Items {
		out = append(out, Found{"repository", "repos", r.Name, r.Path, repoHref(r.Name, "", false)})
	}
	return out
}

func (v *visit) foundRelays(string) (out []Found) {
	if !v.has(string(relay.RelayList)) {
		return nil
	}
	list, _ := ask(v, relay.RelayList, session.Nothing{})
	for _, r := range list.Relays {
		row := relayRow(r)
		out = append(out, Found{"relay", "relay", row.Task, row.Status, relayHref(row.ID)})
	}
	return out
}

func (v *visit) foundActors(string) (out []Found) {
	if !v.has(string(identity.ActorList)) {
		return nil
	}
	list, _ := v.actors()
	for _, a := range list {
		if a.Kind != op.Session { // which are found as sessions
			out = append(out, Found{"actor", "actors", a.Name, string(a.Kind), actorHref(a.ID)})
		}
	}
	return out
}

func (v *visit) foundSettings(string) (out []Found) {
	if !v.has(string(server.ServerSettings)) {
		return nil
	}
	list, _ := ask(v, server.ServerSettings, identity.Nothing{})
	for _, s := range list.Settings {
		out = append(out, Found{"setting", "system", s.Key, s.Doc, "/panel/system#" + settingID(s.Key)})
	}
	return out
}

// settingID names a setting's row on its page.
func settingID(key string) string { return "setting-" + pathEscape(key) }
