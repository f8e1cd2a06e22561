package session

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/op"
)

// What people gave to sessions, a folder or commands without a sandbox, and a checkout that was made for one count while the journal
// vouches for them.

const (
	folderColumns     = "path, read_only, granted_by, created_at, outfit"
	unconfinedColumns = "session, granted_by, created_at"
)

func scanFolder(row scanner, more ...any) (f Folder, err error) {
	var ro, at int64
	var outfit string
	if err = row.Scan(append([]any{&f.Path, &ro, &f.GrantedBy, &at, &outfit}, more...)...); err == nil {
		err = decode(outfit, &f.Outfit)
	}
	f.ReadOnly, f.CreatedAt = ro != 0, db.Time(at)
	return f, err
}

// worn is a folder's outfit as its row has it; nothing is "".
func (f Folder) worn() string {
	if f.Outfit.Empty() {
		return ""
	}
	return encode(f.Outfit)
}

func scanUnconfined(row scanner, more ...any) (u Unconfined, err error) {
	var at int64
	err = row.Scan(append([]any{&u.Session, &u.GrantedBy, &at}, more...)...)
	u.CreatedAt = db.Time(at)
	return u, err
}

func folderSubject(path string) string { return "folder:" + path }

func (f Folder) seal(tenant string) op.Sealed {
	how := "for reading and changing"
	if f.ReadOnly {
		how = "for reading"
	}
	says := []string{f.Path, strconv.FormatBool(f.ReadOnly), f.GrantedBy, strconv.FormatInt(f.CreatedAt.UnixMicro(), 10)}
	if worn := f.worn(); worn != "" {
		says = append(says, worn)
	}
	return op.Sealed{Tenant: tenant, Subject: folderSubject(f.Path), What: "the folder " + f.Path + ", granted to sessions " + how, Says: says}
}

func unconfinedSubject(session string) string { return "unconfined:" + session }

func (u Unconfined) seal(tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: unconfinedSubject(u.Session),
		What: "that the commands of " + u.Session + " run without a sandbox",
		Says: []string{u.Session, u.GrantedBy, strconv.FormatInt(u.CreatedAt.UnixMicro(), 10)}}
}

func checkoutSubject(path string) string { return "checkout:" + filepath.Clean(path) }

func sealCheckout(c Checkout, tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: checkoutSubject(c.Path),
		What: "the checkout " + c.Path + ", made of " + c.Repo + " for a session",
		Says: []string{string(c.Kind), c.Repo, c.Path, c.Folder, c.Name, c.Base}}
}

func scanCheckout(row scanner, more ...any) (c Checkout, err error) {
	var body string
	if err = row.Scan(append([]any{&body}, more...)...); err == nil {
		err = decode(body, &c)
	}
	return c, err
}

// Rows lists what people gave to sessions, the checkouts that were made for them, the sessions and
// their open turns, and the budgets that people set.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+folderColumns+", tenant FROM session_folder")
	out, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		f, err := scanFolder(rows, &tenant)
		return f.seal(tenant), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = d.Query(ctx, "SELECT "+unconfinedColumns+", tenant FROM session_unconfined")
	more, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		u, err := scanUnconfined(rows, &tenant)
		return u.seal(tenant), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = d.Query(ctx, "SELECT body, tenant FROM session_checkout")
	made, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		c, err := scanCheckout(rows, &tenant)
		return sealCheckout(c, tenant), err
	})
	if err != nil {
		return nil, err
	}
	all, err := sessions(ctx, d)
	if err != nil {
		return nil, err
	}
	open, err := openTurns(ctx, d)
	if err != nil {
		return nil, err
	}
	limits, err := budgets(ctx, d)
	return slices.Concat(out, more, made, all, open, limits), err
}
