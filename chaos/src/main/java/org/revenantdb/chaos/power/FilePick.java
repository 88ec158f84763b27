package org.revenantdb.chaos.power;

import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.profile.DiskRules.Names;
import org.revenantdb.chaos.profile.DiskRules.Size;
import org.revenantdb.chaos.profile.DiskRules.Torn;

/**
 * One version for every unit of a file, and one for its size: the legal choice that is nearest to
 * the wanted losses.
 *
 * <p>Threads: one, that of the file. It is valid until the next change and the next pick of the
 * file.
 */
final class FilePick {
  /*
   * The input is a set of wanted losses. The result is as follows, with i, t, z places of changes
   * and v(u) the version of unit u:
   *
   *   listed   under a journal: truncations, and under BEFORE_DATA every change that makes the file
   *            longer. Those before `cutoff` are there, no others are. `floor` is the last one that
   *            is there.
   *   z        the version of the size: the latest whose loss is not wanted, not below `floor`,
   *            under a journal before `cutoff`, and under AFTER_DATA legal. Legal means: every unit
   *            below the size that a write i <= z appended has v(u) >= i. (A stuck write does not
   *            count, because its page counts as clean, nor does one whose size a synchronous write
   *            made durable.) If z itself is the first that is not legal, the size may end where
   *            its first missing unit begins, because the file had this size, too, during the
   *            write.
   *   v(u)     the latest write whose loss is not wanted in u, or the latest truncation that is
   *            there, if that is later.
   *
   * and, to be legal, these override the wanted losses:
   *
   *   V1  a truncation t is there as a whole: v(u) >= t for every u that it touches if and only if
   *       z >= t. Behind a truncation that is missing, units that begin behind its size are as they
   *       were before, because its blocks were not freed. Not under ANY.
   *   V2  under AFTER_DATA a listed truncation has below its size what earlier writes appended,
   *       because no size is durable before its bytes.
   *   V3  under BEFORE_DATA no unit has the version of a write that made the file longer than it
   *       is: z >= i.
   *
   * So losing a size overrides keeping its bytes or later sizes, unless the journal decided. Losing
   * a size that a later kept size contains has no effect, like losing a write whose unit is in a
   * later kept write.
   */

  private final PendingFile file;
  private final DiskRules rules;
  private final long cutoff;
  private final boolean free;

  private long version = PendingFile.BASE;
  private long size;
  private long floor = PendingFile.BASE;
  private long floorSize;

  FilePick(PendingFile file, Losses wanted, long cutoff) {
    this.file = file;
    this.rules = file.rules;
    this.cutoff = cutoff;
    this.free = rules.size() == Size.ANY;
    this.floorSize = file.base().size();
    for (FileChange change : file.changes) {
      change.wanted = wanted.of(change.seq);
    }
    for (FileChange change : file.changes) {
      if (decided(change)) {
        floor = change.seq;
        floorSize = change.sizeAfter;
      }
    }
    pickSize();
  }

  /** Whether a change is in the journal's list of names and sizes. */
  static boolean listed(FileChange change, DiskRules rules) {
    return rules.names() == Names.JOURNALED
        && (change.isTruncation() || (rules.size() == Size.BEFORE_DATA && change.grows()));
  }

  /** Whether the size after a change is there, whatever the wanted losses. */
  private boolean decided(FileChange change) {
    if (!change.resizes() || change.sizeDurable) {
      return false;
    }
    return rules.names() == Names.JOURNALED
        ? listed(change, rules) && change.seq < cutoff
        : rules.size() == Size.BEFORE_DATA;
  }

  private void pickSize() {
    at(floor, floorSize);
    // Without truncations, a unit that is missing once is missing below every later size, so one
    // check is enough.
    boolean plain = rules.size() == Size.AFTER_DATA && file.truncations.isEmpty();
    Missing missing = plain ? firstMissing(Long.MAX_VALUE, Long.MAX_VALUE) : Missing.NOTHING;
    for (FileChange change : file.changes.reversed()) {
      if (change.seq <= floor) {
        return;
      }
      if (!candidate(change)) {
        continue;
      }
      at(change.seq, change.sizeAfter);
      if (rules.size() != Size.AFTER_DATA) {
        return;
      }
      if (!plain) {
        missing = firstMissing(change.seq, change.sizeAfter);
      }
      if (change.seq < missing.since) {
        return;
      }
      long passed = Math.max(Math.max(change.sizeBefore, change.from), change.sizeReached);
      if (change.grows() && missing.start > passed) {
        size = missing.start;
        return;
      }
      at(floor, floorSize);
    }
  }

  /** Where the first missing unit begins, and the place of the write that appended it. */
  private record Missing(long start, long since) {

    static final Missing NOTHING = new Missing(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  private void at(long newVersion, long newSize) {
    version = newVersion;
    size = newSize;
  }

  private boolean candidate(FileChange change) {
    return change.resizes()
        && !change.sizeDurable
        && !listed(change, rules)
        && (rules.names() != Names.JOURNALED || change.seq < cutoff)
        && !isLost(change, 0);
  }

  /** The first missing unit below a size that writes up to a place appended. */
  private Missing firstMissing(long newest, long below) {
    Missing first = Missing.NOTHING;
    for (FileChange change : file.changes) {
      if (change.seq > newest) {
        break;
      }
      if (!change.grows() || change.stuck || (file.truncations.isEmpty() && !isHit(change))) {
        continue;
      }
      for (int unit = change.firstAppendedUnit(rules.unit()); unit <= change.lastUnit; unit++) {
        if (start(unit) < below
            && start(unit) < first.start
            && change.touches(unit)
            && !change.isBelowDurableSize(start(unit))
            && version(unit) < change.seq) {
          first = new Missing(start(unit), change.seq);
          break;
        }
      }
    }
    return first;
  }

  /** The version of a unit. */
  long version(int unit) {
    long best = PendingFile.BASE;
    long behind = Long.MAX_VALUE;
    for (FileChange cut : file.truncations) {
      boolean there = free ? !isLost(cut, 1) : cut.seq <= version;
      if (there && cut.touches(unit)) {
        best = cut.seq;
      } else if (!there && !free && start(unit) >= cut.sizeAfter) {
        behind = Math.min(behind, cut.seq);
      }
    }
    List<FileChange> writes = file.byUnit.getOrDefault(unit, List.of());
    for (int i = writes.size() - 1; i >= 0 && writes.get(i).seq > best; i--) {
      FileChange write = writes.get(i);
      if (write.seq < behind && isThere(write, unit)) {
        return write.seq;
      }
    }
    return best;
  }

  private boolean isThere(FileChange write, int unit) {
    if (rules.size() == Size.BEFORE_DATA && write.grows() && !write.sizeDurable) {
      return write.seq <= version && !isLost(write, write.part(unit));
    }
    return !isLost(write, write.part(unit)) || isForced(write, unit);
  }

  /** Rule V2. */
  private boolean isForced(FileChange write, int unit) {
    return rules.size() == Size.AFTER_DATA
        && write.seq < floor
        && write.grows()
        && !write.stuck
        && !write.isBelowDurableSize(start(unit))
        && unit >= write.firstAppendedUnit(rules.unit())
        && start(unit) < floorSize;
  }

  private static boolean isHit(FileChange change) {
    return change.wanted != null;
  }

  private static boolean isLost(FileChange change, int part) {
    Loss loss = change.wanted;
    return loss != null && loss.lost(part);
  }

  private long start(int unit) {
    return (long) unit * rules.unit();
  }

  /** Adds the real losses of the file to a map. */
  void addTo(SortedMap<Long, Loss> losses) {
    for (FileChange change : file.changes) {
      BitSet lost = change.isTruncation() ? lostOfTruncation(change) : lostOfWrite(change);
      if (lost != null) {
        losses.put(change.seq, new Loss(change.operation, isWhole(change, lost) ? null : lost));
      }
    }
  }

  private @Nullable BitSet lostOfTruncation(FileChange cut) {
    BitSet lost = new BitSet(2);
    lost.set(0, version < cut.seq);
    lost.set(1, free ? isLost(cut, 1) : version < cut.seq);
    return lost.isEmpty() ? null : lost;
  }

  private @Nullable BitSet lostOfWrite(FileChange write) {
    boolean sizeLost = write.grows() && !write.sizeDurable && version < write.seq;
    if (!isHit(write) && !sizeLost && file.truncations.isEmpty()) {
      return null;
    }
    BitSet lost = new BitSet();
    lost.set(0, sizeLost);
    for (int unit = write.firstUnit; unit <= write.lastUnit; unit++) {
      if (write.touches(unit) && version(unit) < write.seq) {
        lost.set(write.part(unit));
      }
    }
    return lost.isEmpty() ? null : lost;
  }

  private static boolean isWhole(FileChange change, BitSet lost) {
    if (change.isTruncation()) {
      return lost.cardinality() == 2;
    }
    int parts = change.live == null ? change.units() : change.live.cardinality();
    return lost.cardinality() == parts + (change.grows() && !change.sizeDurable ? 1 : 0);
  }

  /** The content of the picked version. */
  FileContent content() {
    boolean nearer = file.truncations.isEmpty() && !losesMost();
    FileContent content = (nearer ? file.current() : file.base()).copy();
    long most = Math.max(content.size(), Math.max(size, file.current().size()));
    content.setSize(most);
    if (nearer) {
      takeBack(content);
    } else {
      bringIn(content);
    }
    content.setSize(size);
    return content;
  }

  private boolean losesMost() {
    long hits = file.changes.stream().filter(FilePick::isHit).count();
    return hits * 2 > file.changes.size();
  }

  /** Goes from the content that readers see to the picked version. */
  private void takeBack(FileContent content) {
    BitSet blocks = new BitSet();
    for (FileChange change : file.changes) {
      if (isHit(change) || change.seq > version) {
        blocks.set(block(change.firstUnit), block(change.lastUnit) + 1);
      }
    }
    blocks.stream().forEach(block -> put(content, block));
  }

  /** Goes from the durable content to the picked version. */
  private void bringIn(FileContent content) {
    BitSet blocks = new BitSet();
    for (FileChange cut : file.truncations) {
      if (free ? !isLost(cut, 1) : cut.seq <= version) {
        content.zero(cut.from, cut.to);
        blocks.set(block(cut.firstUnit));
        blocks.set(block(cut.lastUnit));
      }
    }
    file.byUnit.keySet().forEach(unit -> blocks.set(block(unit)));
    blocks.stream().forEach(block -> put(content, block));
  }

  private int block(int unit) {
    return (int) (start(unit) / FileContent.BLOCK);
  }

  /** Writes the picked version of every unit of a block; shares the whole block if possible. */
  private void put(FileContent content, int block) {
    int count = FileContent.BLOCK / rules.unit();
    int first = block * count;
    boolean newest = file.truncations.isEmpty();
    boolean oldest = newest;
    long[] picked = new long[count];
    for (int i = 0; i < count; i++) {
      picked[i] = version(first + i);
      newest &= picked[i] == file.newest(first + i);
      oldest &= picked[i] == PendingFile.BASE;
    }
    boolean garbage = rules.torn() == Torn.GARBAGE;
    if (newest || (oldest && !garbage)) {
      content.share(newest ? file.current() : file.base(), block);
      return;
    }
    for (int i = 0; i < count; i++) {
      byte[] bytes = file.content(first + i, picked[i]);
      if (garbage) {
        spoil(bytes, first + i, picked[i]);
      }
      PendingFile.put(content, first + i, bytes, content.size());
    }
  }

  /**
   * The write that would have made the next version of a unit: its bytes there may be zeros or
   * garbage. Which of them depends on the write and the unit alone, so that a state is the same
   * whenever it is made, and stays so while it is shrunk.
   */
  private void spoil(byte[] bytes, int unit, long picked) {
    for (FileChange write : file.byUnit.getOrDefault(unit, List.of())) {
      if (write.seq > picked && write.touches(unit)) {
        SplittableRandom random = new SplittableRandom(write.seq << 32 ^ unit);
        int fate = random.nextInt(3);
        int from = (int) (Math.max(write.from, start(unit)) - start(unit));
        int to = (int) (Math.min(write.to, start(unit + 1)) - start(unit));
        for (int at = from; fate > 0 && at < to; at++) {
          bytes[at] = fate == 1 ? 0 : (byte) random.nextInt();
        }
        return;
      }
    }
  }
}
