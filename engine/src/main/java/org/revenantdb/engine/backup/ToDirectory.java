package org.revenantdb.engine.backup;

import java.nio.file.Path;

/** What backups to a directory share, whole ones and increments. */
interface ToDirectory extends BackupOutput {
  @Override
  Path directory();

  /** The target, after it was made. */
  BackupTarget target();

  @Override
  default String name() {
    return directory().toString();
  }

  @Override
  default void settle() {
    target().data().force();
  }

  @Override
  default void remove(Throwable failed) {
    target().remove(failed);
  }

  @Override
  default boolean carry() {
    return false;
  }

  @Override
  default void flush() {}
}
