package policy

// DataBoundary limits the classes of data that may pass. Denied beats Allowed; an empty Allowed lets every class pass that
// is not denied, as in the published vocabulary.
type DataBoundary struct {
	Allowed []DataClass `json:"allowed_data_classes,omitempty"`
	Denied  []DataClass `json:"denied_data_classes,omitempty"`
}

// Admits says whether data of the class may pass.
func (b *DataBoundary) Admits(c DataClass) bool {
	if hasClass(b.Denied, c) {
		return false
	}
	return len(b.Allowed) == 0 || hasClass(b.Allowed, c)
}

func (b *DataBoundary) check() error {
	if err := checkClasses(b.Allowed); err != nil {
		return err
	}
	return checkClasses(b.Denied)
}

func hasClass(list []DataClass, c DataClass) bool {
	for _, x := range list {
		if x == AnyClass || x == c {
			return true
		}
	}
	return false
}

func checkClasses(list []DataClass) error {
	for _, c := range list {
		if c != AnyClass && !knownClass[c] {
			return malformed("there is no data class called %q", c)
		}
	}
	return nil
}
