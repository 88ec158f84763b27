package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of the file that a path leads to at the time of the call.
 *
 * @param name the name of the view: basic, owner or posix
 * @param path the file
 * @param names the tree to look it up in
 */
record MemoryAttributeView(String name, MemoryPath path, NameSpace names)
    implements PosixFileAttributeView {

  @Override
  public PosixFileAttributes readAttributes() throws IOException {
    return MemoryAttributes.of(names, path);
  }

  @Override
  public void setTimes(
      @Nullable FileTime modified, @Nullable FileTime accessed, @Nullable FileTime created)
      throws IOException {
    Node node = names.get(path);
    if (modified != null) {
      node.modified = modified;
    }
    if (accessed != null) {
      node.accessed = accessed;
    }
    if (created != null) {
      node.created = created;
    }
  }

  @Override
  public UserPrincipal getOwner() throws IOException {
    return names.get(path).owner;
  }

  @Override
  public void setOwner(UserPrincipal owner) throws IOException {
    names.get(path).owner = Objects.requireNonNull(owner);
  }

  @Override
  public void setGroup(GroupPrincipal group) throws IOException {
    names.get(path).group = Objects.requireNonNull(group);
  }

  @Override
  public void setPermissions(Set<PosixFilePermission> permissions) throws IOException {
    names.get(path).permissions = Set.copyOf(permissions);
  }
}
