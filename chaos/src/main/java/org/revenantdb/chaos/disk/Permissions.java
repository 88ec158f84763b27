package org.revenantdb.chaos.disk;

import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** The permissions of new files and directories, which are kept and never enforced. */
final class Permissions {

  static final Set<PosixFilePermission> FILE =
      Set.copyOf(PosixFilePermissions.fromString("rw-r--r--"));
  static final Set<PosixFilePermission> DIRECTORY =
      Set.copyOf(PosixFilePermissions.fromString("rwxr-xr-x"));

  /** The permissions that no new file gets, even on request (a umask of 022). */
  private static final Set<PosixFilePermission> MASKED =
      Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private Permissions() {}

  /** The permissions that the attributes of a creation request. */
  static Set<PosixFilePermission> of(
      Set<PosixFilePermission> otherwise, FileAttribute<?>... attributes) {
    Set<PosixFilePermission> result = otherwise;
    for (FileAttribute<?> attribute : attributes) {
      if (!attribute.name().equals("posix:permissions")
          || !(attribute.value() instanceof Set<?> values)) {
        throw new UnsupportedOperationException(
            "'" + attribute.name() + "' not supported as initial attribute");
      }
      EnumSet<PosixFilePermission> asked = EnumSet.noneOf(PosixFilePermission.class);
      values.forEach(value -> asked.add((PosixFilePermission) value));
      result = masked(asked);
    }
    return result;
  }

  static Set<PosixFilePermission> masked(Set<PosixFilePermission> permissions) {
    EnumSet<PosixFilePermission> result = EnumSet.noneOf(PosixFilePermission.class);
    result.addAll(permissions);
    result.removeAll(MASKED);
    return Set.copyOf(result);
  }
}
