package config

// Secrets returns the values of the configuration that are probably secret, also those of
// environment variables that it refers to, so that they can be hidden in what is written.
func (c *Config) Secrets() []string {
	all := append([]string(nil), c.fromEnvironment...)
	for i := range c.Servers {
		s := &c.Servers[i]
		all = append(all, s.Config.Secrets()...)
		if o := s.Source; o != nil {
			all = append(all, o.Key, o.Password, o.Token)
		}
	}
	for i := range c.Profiles {
		all = append(all, c.Profiles[i].Token)
	}
	if a := c.Access; a != nil && a.Introspection != nil {
		all = append(all, a.Introspection.ClientSecret)
	}
	return all
}
