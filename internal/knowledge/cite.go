package knowledge

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// asked stands for a question in what a session read: whoever says that something is not known here has asked.
const asked = ""

// maxCitations is how many different items one answer cites.
const maxCitations = 200

// NotKnown is the whole of an answer that cites nothing.
const NotKnown = "Not known here."

var (
	inBrackets = regexp.MustCompile(`\[[^\[\]\n]{5,1000}\]`)
	itemForm   = regexp.MustCompile(`\bkno_[0-9a-z]{1,40}\b`)
)

// note keeps what a session was answered, so that it can cite that. What people read is nobody's business.
func (r *Room) note(ctx context.Context, items ...string) error {
	c := op.CallerFrom(ctx)
	all := sessions(c)
	if people(c) || len(all) == 0 {
		return nil
	}
	var missing [][2]string
	for _, session := range all {
		for _, item := range items {
			var n int
			err := r.db.QueryRow(ctx, "SELECT count(*) FROM knowledge_read WHERE tenant = ? AND session = ? AND item = ?", c.Tenant, session,
				item).Scan(&n)
			if err != nil {
				return err
			}
			if n == 0 {
				missing = append(missing, [2]string{session, item})
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.SortFunc(missing, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return r.db.Write(ctx, func(tx *db.Tx) error {
		for _, m := range missing {
			if _, err := tx.Exec("INSERT INTO knowledge_read (tenant, session, item, read_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
				c.Tenant, m[0], m[1], tx.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// citations are the items that a text cites, each once.
func citations(text string) (out []string) {
	for _, group := range inBrackets.FindAllString(text, -1) {
		out = append(out, itemForm.FindAllString(group, -1)...)
	}
	return once(out)
}

// Grounded says why an answer does not stand on what its session read; "" where it does. An answer cites items that the session was given
// and that still answer, all of them; or it is NotKnown and nothing else, once the session has asked.
func (r *Room) Grounded(tx *db.Tx, tenant, session, answer string) (string, error) {
	cited := citations(answer)
	switch {
	case len(cited) > maxCitations:
		return fmt.Sprintf("it cites %d items, and %d are looked up", len(cited), maxCitations), nil
	case len(cited) == 0 && strings.EqualFold(strings.Trim(answer, " \t\r\n.*_\""), strings.TrimRight(NotKnown, ".")):
		read, err := hasRead(tx, tenant, session, asked)
		if err != nil || read {
			return "", err
		}
		return "it says that it is not known here, and no knowledge space was asked", nil
	case len(cited) == 0:
		return "it cites nothing", nil
	}
	var its []string
	if r.Bound != nil {
		var err error
		if its, err = r.Bound(tx, tenant, session); err != nil && !fault.Is(err, fault.NotFound) {
			return "", err
		}
	}
	for _, item := range cited {
		read, err := hasRead(tx, tenant, session, item)
		if err != nil {
			return "", err
		}
		var place string
		err = tx.QueryRow(`SELECT k.name FROM knowledge_item i JOIN knowledge k ON k.tenant = i.tenant AND k.nr = i.place
			WHERE i.tenant = ? AND i.id = ? AND i.state IN ('promoted', 'default')`, tenant, item).Scan(&place)
		switch {
		case err != nil && !db.NoRows(err):
			return "", err
		case !read:
			return fmt.Sprintf("it cites %s, which was not read", item), nil
		case err != nil:
			return fmt.Sprintf("it cites %s, which does not answer any more", item), nil
		case len(its) > 0 && !slices.Contains(its, place):
			return fmt.Sprintf("it cites %s, which was not read", item), nil
		}
	}
	return "", nil
}

func hasRead(tx *db.Tx, tenant, session, item string) (bool, error) {
	var n int
	err := tx.QueryRow("SELECT count(*) FROM knowledge_read WHERE tenant = ? AND session = ? AND item = ?", tenant, session, item).Scan(&n)
	return n > 0, err
}
