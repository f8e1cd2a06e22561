package automation

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"tandem/internal/automation/hook"
	"tandem/internal/db"
)

// How many messages of one webhook are known again for ever, where what its sender signs says no time: 16 bytes each, in parts of some
// 4 KB of which a message reads and writes one.
const (
	mostRemembered = 1_000_000
	nearlyAll      = mostRemembered / 10 * 9 // from here on people are told
	memoryParts    = 1 << 12
	markBytes      = 16
)

// past are the messages of one webhook that came and whose rows are forgotten. They stay until the webhook gets another secret: under
// that one nothing is signed right that was captured before.
type past struct {
	tx                        *db.Tx
	tenant, name, trigger, id string
	scheme                    string
}

// of are what a message is known again by: what was signed, and its name where the sender signs that, too.
func (m *past) of(mark, sender string) []string {
	if name := hook.Name(m.scheme, sender); name != "" {
		return []string{mark, name}
	}
	return []string{mark}
}

// knows reports whether a message came before, and how many are known.
func (m *past) knows(all []string) (known bool, err error) {
	for _, mark := range all {
		_, at, had, err := m.part(mark)
		if err != nil || has(had, at) {
			return err == nil, err
		}
	}
	return false, nil
}

// keep has messages known from now on, and tells people when there is soon no room for more.
func (m *past) keep(all []string, tell func(remembered int64) error) error {
	added := int64(0)
	for _, mark := range all {
		part, at, had, err := m.part(mark)
		if err != nil || has(had, at) {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := m.tx.Exec("INSERT INTO automation_remembered (tenant, name, hook, part, marks) VALUES (?, ?, ?, ?, ?) "+
			"ON CONFLICT (tenant, hook, part) DO UPDATE SET marks = excluded.marks", m.tenant, m.name, m.id, part,
			append(had, at...)); err != nil {
			return err
		}
		added++
	}
	before, err := m.count()
	if err != nil || added == 0 {
		return err
	}
	if _, err := m.tx.Exec("UPDATE automation_hook SET remembered = remembered + ? WHERE tenant = ? AND id = ?", added, m.tenant,
		m.id); err != nil {
		return err
	}
	now := before + added
	if passes := func(n int64) bool { return before < n && now >= n }; tell != nil && (passes(nearlyAll) || passes(mostRemembered)) {
		return tell(now)
	}
	return nil
}

func (m *past) count() (n int64, err error) {
	err = m.tx.QueryRow("SELECT remembered FROM automation_hook WHERE tenant = ? AND id = ?", m.tenant, m.id).Scan(&n)
	if db.NoRows(err) {
		return 0, nil
	}
	return n, err
}

// part is where a mark is kept, in short, and what is there.
func (m *past) part(mark string) (part int, short, had []byte, err error) {
	sum := sha256.Sum256([]byte(mark))
	part = int(binary.BigEndian.Uint16(sum[:])) % memoryParts
	err = m.tx.QueryRow("SELECT marks FROM automation_remembered WHERE tenant = ? AND hook = ? AND part = ?", m.tenant, m.id, part).Scan(&had)
	if db.NoRows(err) {
		err = nil
	}
	return part, sum[2 : 2+markBytes], had, err
}

func has(all, mark []byte) bool {
	for ; len(all) >= markBytes; all = all[markBytes:] {
		if bytes.Equal(all[:markBytes], mark) {
			return true
		}
	}
	return false
}

// forget lets all go: they were signed with a secret that is no longer taken.
func (m *past) forget() error {
	if _, err := m.tx.Exec("DELETE FROM automation_remembered WHERE tenant = ? AND hook = ?", m.tenant, m.id); err != nil {
		return err
	}
	_, err := m.tx.Exec("UPDATE automation_hook SET remembered = 0 WHERE tenant = ? AND id = ?", m.tenant, m.id)
	return err
}
