package org.revenantdb.engine.archive;

import java.nio.file.Path;
import org.revenantdb.engine.StorageException;

/** The refusal of an archive that is not of this history of the database. */
final class Foreign {
  private Foreign() {}

  static StorageException of(Path archive, String problem) {
    return new StorageException(
        StorageException.Reason.ARCHIVE_FOREIGN,
        archive,
        StorageException.NO_OFFSET,
        "this archive is not of this history of the database: " + problem,
        "name another directory for the archive of this database; if this is an old copy of the database, restore from the archive instead",
        /* cause= */ null);
  }
}
