package installation

import (
	"strings"

	"tandem/internal/fault"
)

// Found is what a start finds of an installation.
type Found struct {
	Data   string   // the data folder
	Folder *Kept    // what it knows; nil for nothing
	Where  string   // the database it is to start with, for people
	Base   string   // the identity in that database
	Empty  bool     // that database holds nothing
	Keys   []string // the key files in the folder
}

// Refuse says whether these parts are not one installation, and which part is
// missing.
func (f Found) Refuse() error {
	const no = "nothing was changed: "
	switch {
	case f.Folder != nil && f.Base != "" && f.Base != f.Folder.ID:
		return fault.New(fault.Conflict, "installation", "the database %s belongs to installation %s, and the folder %s to %s", f.Where, f.Base,
			f.Data, f.Folder.ID).
			WithNext("%sstart with its own database (%s), with the folder of the other installation, or with an empty folder: --data", no,
				f.Folder.Database.Shown)
	case f.Folder != nil && f.Base == "" && f.Empty && f.Where == f.Folder.Database.Shown:
		return fault.New(fault.Unavailable, "installation", "the database %s of installation %s is empty or gone; its keys are still in %s",
			f.Where, f.Folder.ID, f.Data).
			WithNext("%smount its disk, put the database back or restore a copy into it; to begin anew and set aside what is here: tandem up --new",
				no)
	case f.Folder != nil && f.Base == "" && f.Empty:
		return fault.New(fault.Conflict, "installation", "the database %s is empty, and installation %s of %s has its data in %s", f.Where,
			f.Folder.ID, f.Data, f.Folder.Database.Shown).
			WithNext("%sstart without --database; to move there: tandem server move postgres://…", no)
	case f.Folder == nil && f.Base == "" && f.Empty && len(f.Keys) > 0:
		return fault.New(fault.Unavailable, "installation", "%s has the keys of an installation (%s) and %s has no data of it", f.Data,
			strings.Join(f.Keys, ", "), f.Where).
			WithNext("%smount its disk, put tandem.db back, or name its database: tandem up --database postgres://…; "+
				"to begin anew and set aside what is here: tandem up --new", no)
	case f.Folder == nil && f.Base != "" && len(f.Keys) == 0:
		return fault.New(fault.Conflict, "installation", "the database %s belongs to installation %s, whose keys are not in %s", f.Where, f.Base,
			f.Data).
			WithNext("%sstart with the folder of that installation (--data); to serve it from here as well, give this machine its keys. "+
				"There: tandem server key copy PATH; here: tandem server key take PATH; for a new installation take an empty database", no)
	}
	return nil
}
