package audit

// HasKey reports whether a unique or primary_key assertion is among the rules:
// one that would see the same rows appended twice.
func (c *Config) HasKey() bool {
	for _, k := range c.checks {
		if (k.Type == "unique" || k.Type == "primary_key") && !k.Off && k.Severity == SeverityFail {
			return true
		}
	}
	return false
}
