package config

// Secrets returns the values of the configuration that are probably secret, so that
// they can be hidden in records of calls.
func (c *Config) Secrets() []string {
	var all []string
	for i := range c.Servers {
		s := &c.Servers[i]
		all = append(all, s.Config.Secrets()...)
		if r := s.Redmine; r != nil {
			all = append(all, r.Key, r.Password, r.Token)
		}
	}
	return all
}
