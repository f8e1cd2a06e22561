package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/fault"
	"tandem/internal/schedule/wire"
	"tandem/internal/wholefile"
)

// copiesMark is the file that says whose copies a folder of scheduled ones holds.
const copiesMark = "server.json"

// copiesOf is what that file says: which server makes copies there, and since when a person wants it to.
type copiesOf struct {
	Server string    `json:"server"`
	Set    time.Time `json:"set"`
}

// ownCopies refuses a folder in which another server makes its copies: one that was restored from a copy, for a drill or by mistake,
// has the schedule of the server that it was copied from, and would remove that one's. Whose schedule was set last has the folder.
func (d *Daemon) ownCopies(folder string) error {
	mine := copiesOf{Server: d.place()}
	for _, s := range d.rooms.schedule.Set() {
		if s.Kind == wire.Backup {
			mine.Set = s.MadeAt
		}
	}
	path := filepath.Join(folder, copiesMark)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var there copiesOf
	if err == nil && json.Unmarshal(raw, &there) != nil {
		return fault.New(fault.Unavailable, "schedule.run", "%s is damaged: whose copies these are is not known", path).
			WithNext("name another folder: tandem server schedule backup --to FOLDER")
	}
	if there == mine {
		return nil
	}
	if there.Server != "" && there.Server != mine.Server && !there.Set.Before(mine.Set) {
		return fault.New(fault.Conflict, "schedule.run", "another server makes its copies in %s; this one was restored from a copy of it, or "+
			"was told so earlier", folder).WithNext("if this one takes its place, set the schedule anew; if not, name another folder: " +
			"tandem server schedule backup --to FOLDER; or remove it: tandem server schedule remove backup")
	}
	if raw, err = json.Marshal(mine); err != nil {
		return err
	}
	return wholefile.Write(path, append(raw, '\n'))
}

// place tells this data folder from every other, also from one that a copy of it was restored into. The servers of a cluster are one.
func (d *Daemon) place() string {
	text := "folder:" + d.kept.Panel
	if d.kept.Cluster != "" {
		text = "cluster:" + d.kept.Cluster + ":" + d.kept.ID
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
