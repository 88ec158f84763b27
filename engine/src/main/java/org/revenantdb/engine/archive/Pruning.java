package org.revenantdb.engine.archive;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.revenantdb.engine.ArchivePolicy;
import org.revenantdb.recovery.file.Directories;

/** Deletes what a policy does not keep (docs/protocols.md §49, A9). */
final class Pruning {
  private static final long DAY = 24L * 60 * 60 * 1000;

  private Pruning() {}

  /**
   * Deletes notes and bases, then log.
   *
   * @param now milliseconds since 1970
   * @return how many bases were deleted
   */
  static int prune(ArchiveFiles files, ArchiveFiles.Header header, ArchivePolicy policy, long now) {
    if (policy.moments().equals(ArchivePolicy.EVERYTHING)) {
      return 0;
    }
    List<ArchiveFiles.Base> bases = files.bases(header.databaseId());
    if (bases.isEmpty()) {
      return 0;
    }
    bases.sort(Comparator.comparingLong(ArchiveFiles.Base::end));
    ArchiveFiles.Base oldest = firstOfMoments(bases, now - policy.moments().toMillis());
    Set<Long> kept = new TreeSet<>();
    for (ArchiveFiles.Base base : bases) {
      if (base.end() >= oldest.end()) {
        kept.add(base.number());
      }
    }
    keepDays(bases, policy.days(), now, kept);
    int deleted = 0;
    for (ArchiveFiles.Base base : bases) {
      if (!kept.contains(base.number())) {
        files.deleteBase(base.number());
        deleted++;
      }
    }
    deleteLog(files, header, oldest.end());
    return deleted;
  }

  /** The newest base from which the oldest moment can be restored; else the oldest base. */
  private static ArchiveFiles.Base firstOfMoments(List<ArchiveFiles.Base> bases, long since) {
    ArchiveFiles.Base first = bases.getFirst();
    for (ArchiveFiles.Base base : bases) {
      if (base.millis() <= since) {
        first = base;
      }
    }
    return first;
  }

  private static void keepDays(List<ArchiveFiles.Base> bases, int days, long now, Set<Long> kept) {
    for (int day = 0; day < days; day++) {
      ArchiveFiles.Base newest = null;
      for (ArchiveFiles.Base base : bases) {
        if (Math.floorDiv(now - base.millis(), DAY) == day) {
          newest = base;
        }
      }
      if (newest != null) {
        kept.add(newest.number());
      }
    }
  }

  /** The lowest number first; never the last file. */
  private static void deleteLog(ArchiveFiles files, ArchiveFiles.Header header, long below) {
    List<ArchiveLog.LogFile> logs = new ArchiveLog(files, header).files();
    for (int i = 0; i + 1 < logs.size() && logs.get(i + 1).from() <= below; i++) {
      Directories.delete(logs.get(i).path());
      files.force();
    }
  }
}
