package org.revenantdb.chaos.disk;

import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.EnumSet;
import java.util.Set;

/**
 * The attributes of a file or directory at the time of the call.
 *
 * @param fileKey the same for all names of a file, different for different files
 * @param isDirectory whether it is a directory; otherwise it is a file
 * @param size in bytes
 * @param lastModifiedTime of the bytes, or of the entries
 * @param lastAccessTime not updated by reading
 * @param creationTime of the file, or when the image was opened
 * @param owner the only user
 * @param group the only group
 * @param permissions kept, never enforced
 */
record MemoryAttributes(
    Object fileKey,
    boolean isDirectory,
    long size,
    FileTime lastModifiedTime,
    FileTime lastAccessTime,
    FileTime creationTime,
    UserPrincipal owner,
    GroupPrincipal group,
    Set<PosixFilePermission> permissions)
    implements PosixFileAttributes {

  /** Identifies a file of a file system. */
  private record FileKey(NameSpace disk, int node) {
    @Override
    public String toString() {
      return "(node " + node + ")";
    }
  }

  /**
   * The attributes of the file that a path leads to. If the path leads nowhere, for whatever
   * reason, the file does not exist.
   */
  static MemoryAttributes of(NameSpace disk, MemoryPath path) throws NoSuchFileException {
    Node node = disk.find(path);
    if (node == null) {
      throw new NoSuchFileException(path.toString());
    }
    return of(disk, node);
  }

  static MemoryAttributes of(NameSpace disk, Node node) {
    EnumSet<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
    permissions.addAll(node.permissions);
    return new MemoryAttributes(
        new FileKey(disk, node.number),
        node.isDirectory(),
        node.size(),
        node.modified,
        node.accessed,
        node.created,
        node.owner,
        node.group,
        permissions);
  }

  @Override
  public boolean isRegularFile() {
    return !isDirectory;
  }

  @Override
  public boolean isSymbolicLink() {
    return false;
  }

  @Override
  public boolean isOther() {
    return false;
  }
}
