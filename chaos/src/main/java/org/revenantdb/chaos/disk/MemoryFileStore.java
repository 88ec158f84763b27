package org.revenantdb.chaos.disk;

import java.nio.file.FileStore;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import org.jspecify.annotations.Nullable;

/** A store with more free space than any test needs. */
final class MemoryFileStore extends FileStore {

  static final MemoryFileStore ONLY = new MemoryFileStore();

  private static final long ROOM = 1L << 50;

  private MemoryFileStore() {}

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public String type() {
    return "memory";
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public long getTotalSpace() {
    return ROOM;
  }

  @Override
  public long getUsableSpace() {
    return ROOM;
  }

  @Override
  public long getUnallocatedSpace() {
    return ROOM;
  }

  @Override
  public long getBlockSize() {
    return FileContent.BLOCK;
  }

  @Override
  public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
    return type == BasicFileAttributeView.class
        || type == PosixFileAttributeView.class
        || type == FileOwnerAttributeView.class;
  }

  @Override
  public boolean supportsFileAttributeView(String name) {
    return AttributeNames.VIEWS.contains(name);
  }

  @Override
  public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
    return null;
  }

  @Override
  public Object getAttribute(String attribute) {
    return switch (attribute) {
      case "totalSpace" -> getTotalSpace();
      case "usableSpace" -> getUsableSpace();
      case "unallocatedSpace" -> getUnallocatedSpace();
      default -> throw new UnsupportedOperationException("no attribute " + attribute);
    };
  }
}
