package db

import "sync"

// Bound is how many rows of a table a tenant may have. They are not counted at each insertion: what was counted once leaves room for
// so many more, of which half may go before it is counted anew. Servers that share a database may together exceed it by what they let
// in meanwhile.
type Bound struct {
	Table string // with a column tenant
	Most  int

	mu   sync.Mutex
	left map[string]int
}

// Full says, within the transaction that would insert a row, that there is no room for it.
func (b *Bound) Full(tx *Tx, tenant string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left[tenant] > 0 {
		b.left[tenant]--
		return false, nil
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM "+b.Table+" WHERE tenant = ?", tenant).Scan(&n); err != nil {
		return false, err
	}
	if n >= b.Most {
		return true, nil
	}
	if b.left == nil {
		b.left = map[string]int{}
	}
	b.left[tenant] = (b.Most - n - 1) / 2
	return false, nil
}
