package provider

// Nano counts money: a thousand millionth of a US dollar. Prices per token are whole numbers in it.
type Nano int64

// Dollars is the amount for people to read.
func (n Nano) Dollars() float64 { return float64(n) / 1e9 }

// Price is what a model costs per token.
type Price struct {
	Input, Output, CacheRead, CacheWrite Nano
}

// Of is what a usage costs at this price.
func (p Price) Of(u Usage) Nano {
	return p.Input*Nano(u.Input) + p.Output*Nano(u.Output) + p.CacheRead*Nano(u.CacheRead) + p.CacheWrite*Nano(u.CacheWrite)
}
