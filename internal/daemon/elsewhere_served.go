package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/server/wire"
	"tandem/internal/wholefile"
)

// servedMark lies in a served repository and names the data folder of the server that has it.
const servedMark = "server.json"

type servedBy struct {
	Data string `json:"data"`
}

// markServed says in each repository that this server has it. One that another living server of this machine has, as after a drill with a
// copy, is told of and left to that one's mark.
func (d *Daemon) markServed() {
	for _, s := range d.servedElsewhere() {
		d.Log.Warn("another server of this machine serves a repository, too", "path", s.Path, "data", s.Data, "pid", s.PID)
	}
	text, err := json.Marshal(servedBy{d.data})
	for root, folder := range d.rooms.repo.Own() {
		if other, _ := otherServer(folder, d.data); other != "" {
			continue
		}
		if err == nil {
			err = wholefile.Write(filepath.Join(folder, servedMark), text)
		}
		if err != nil {
			d.Log.Warn("cannot say in a repository who serves it", "path", root, "err", err)
		}
	}
}

// servedElsewhere are the repositories that another living server of this machine serves, too.
func (d *Daemon) servedElsewhere() (out []wire.Served) {
	for root, folder := range d.rooms.repo.Own() {
		if data, pid := otherServer(folder, d.data); data != "" {
			out = append(out, wire.Served{Path: root, Data: data, PID: pid})
		}
	}
	return out
}

// otherServer is the living server of another data folder that has a repository; "" when none does that this user can see.
func otherServer(folder, own string) (data string, pid int) {
	text, err := os.ReadFile(filepath.Join(folder, servedMark))
	var by servedBy
	if err != nil || json.Unmarshal(text, &by) != nil || by.Data == own || !filepath.IsAbs(by.Data) {
		return "", 0
	}
	h, ok := Living(by.Data)
	if !ok {
		return "", 0
	}
	return by.Data, h.PID
}

func (d *Daemon) sharedFindings() (out []Finding) {
	for _, s := range d.servedElsewhere() {
		out = append(out, Finding{"repository", "bad", fmt.Sprintf("%s is served by another server of this machine, too (PID %d, data in "+
			"%s): each takes in what the other writes as somebody's work at the folder", s.Path, s.PID, s.Data),
			"end one of the two, or serve a copy of the folder: tandem up --replace --repo FOLDER"})
	}
	return out
}
