package qr

// canvas is a code in the making: which modules are dark, and which belong to its patterns.
type canvas struct {
	dark, fixed Code
}

func draw(number int, v version, words []byte) Code {
	size := 17 + 4*number
	c := canvas{square(size), square(size)}
	c.patterns(number, v)
	c.place(words)
	var best Code
	least := -1
	for mask := range 8 {
		m := canvas{square(size), c.fixed}
		for y := range size {
			for x := range size {
				m.dark[y][x] = c.dark[y][x] != (!c.fixed[y][x] && masked(mask, x, y))
			}
		}
		m.format(mask)
		if p := m.dark.penalty(); least < 0 || p < least {
			best, least = m.dark, p
		}
	}
	return best
}

func square(size int) Code {
	out := make(Code, size)
	for i := range out {
		out[i] = make([]bool, size)
	}
	return out
}

func (c canvas) set(x, y int, dark bool) { c.dark[y][x], c.fixed[y][x] = dark, true }

func distance(a, b int) int { return max(a-b, b-a) }

// patterns draws what is there in every code of this version, and keeps the place of the format.
func (c canvas) patterns(number int, v version) {
	size := len(c.dark)
	for i := range size {
		c.set(6, i, i%2 == 0)
		c.set(i, 6, i%2 == 0)
	}
	for _, at := range [][2]int{{3, 3}, {size - 4, 3}, {3, size - 4}} {
		for y := max(0, at[1]-4); y <= min(size-1, at[1]+4); y++ {
			for x := max(0, at[0]-4); x <= min(size-1, at[0]+4); x++ {
				ring := max(distance(x, at[0]), distance(y, at[1]))
				c.set(x, y, ring != 2 && ring != 4)
			}
		}
	}
	for _, y := range v.align {
		for _, x := range v.align {
			last := v.align[len(v.align)-1]
			if x == 6 && (y == 6 || y == last) || x == last && y == 6 {
				continue // a finder is there
			}
			for dy := -2; dy <= 2; dy++ {
				for dx := -2; dx <= 2; dx++ {
					c.set(x+dx, y+dy, max(distance(dx, 0), distance(dy, 0)) != 1)
				}
			}
		}
	}
	c.format(0)
	if number >= 7 {
		bits := number<<12 | remainder(number, 0x1f25, 12)
		for i := range 18 {
			c.set(size-11+i%3, i/3, bits>>i&1 == 1)
			c.set(i/3, size-11+i%3, bits>>i&1 == 1)
		}
	}
}

// remainder is that of a polynomial over two elements, n bits further up, by another of degree n.
func remainder(value, by, n int) int {
	r := value
	for range n {
		r = r<<1 ^ (r>>(n-1))*by
	}
	return r
}

// format writes level L and the mask twice.
func (c canvas) format(mask int) {
	size, data := len(c.dark), 1<<3|mask
	bits := (data<<10 | remainder(data, 0x537, 10)) ^ 0x5412
	bit := func(i int) bool { return bits>>i&1 == 1 }
	for i := range 6 {
		c.set(8, i, bit(i))
		c.set(5-i, 8, bit(9+i))
	}
	c.set(8, 7, bit(6))
	c.set(8, 8, bit(7))
	c.set(7, 8, bit(8))
	for i := range 8 {
		c.set(size-1-i, 8, bit(i))
	}
	for i := 8; i < 15; i++ {
		c.set(8, size-15+i, bit(i))
	}
	c.set(8, size-8, true)
}

// place writes the codewords in columns of two, up and down, from the right.
func (c canvas) place(words []byte) {
	size, i := len(c.dark), 0
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 {
			right = 5
		}
		for step := range size {
			y := step
			if (right+1)&2 == 0 {
				y = size - 1 - step
			}
			for _, x := range []int{right, right - 1} {
				if !c.fixed[y][x] && i < len(words)*8 {
					c.dark[y][x] = words[i/8]>>(7-i%8)&1 == 1
					i++
				}
			}
		}
	}
}

func masked(mask, x, y int) bool {
	switch mask {
	case 0:
		return (x+y)%2 == 0
	case 1:
		return y%2 == 0
	case 2:
		return x%3 == 0
	case 3:
		return (x+y)%3 == 0
	case 4:
		return (x/3+y/2)%2 == 0
	case 5:
		return x*y%2+x*y%3 == 0
	case 6:
		return (x*y%2+x*y%3)%2 == 0
	}
	return ((x+y)%2+x*y%3)%2 == 0
}

// penalty is how hard a code is to read: long runs, squares, what looks like a finder, and more of one colour than of the other.
func (c Code) penalty() (sum int) {
	size, dark := len(c), 0
	for y := range size {
		for _, across := range []bool{true, false} {
			at := func(i int) bool {
				if across {
					return c[y][i]
				}
				return c[i][y]
			}
			run, seen := 0, 0
			for x := range size {
				if x > 0 && at(x) == at(x-1) {
					run++
				} else {
					run = 1
				}
				if run == 5 {
					sum += 3
				} else if run > 5 {
					sum++
				}
				if seen = seen << 1 & 0x7ff; at(x) {
					seen |= 1
				}
				if x >= 10 && (seen == 0x5d0 || seen == 0x05d) {
					sum += 40
				}
			}
		}
		for x := range size {
			if c[y][x] {
				dark++
			}
			if x > 0 && y > 0 && c[y][x] == c[y][x-1] && c[y][x] == c[y-1][x] && c[y][x] == c[y-1][x-1] {
				sum += 3
			}
		}
	}
	return sum + 10*(distance(dark*20, size*size*10)/(size*size))
}
