package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;

/**
 * The only user or the only group.
 *
 * @param getName its name
 */
record MemoryPrincipal(String getName) implements GroupPrincipal {

  static final MemoryPrincipal OWNER = new MemoryPrincipal("owner");
  static final MemoryPrincipal GROUP = new MemoryPrincipal("group");

  /** Finds these two. */
  static final UserPrincipalLookupService LOOKUP =
      new UserPrincipalLookupService() {
        @Override
        public UserPrincipal lookupPrincipalByName(String name) throws IOException {
          return known(name, OWNER);
        }

        @Override
        public GroupPrincipal lookupPrincipalByGroupName(String name) throws IOException {
          return known(name, GROUP);
        }

        private MemoryPrincipal known(String name, MemoryPrincipal principal) throws IOException {
          if (!principal.getName().equals(name)) {
            throw new UserPrincipalNotFoundException(name);
          }
          return principal;
        }
      };

  @Override
  public String toString() {
    return getName;
  }
}
