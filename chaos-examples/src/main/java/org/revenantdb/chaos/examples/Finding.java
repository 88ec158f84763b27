package org.revenantdb.chaos.examples;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.revenantdb.chaos.run.Failure;

/**
 * Something that is known about a store, and how it is judged. A run must find it unaided: by the
 * work that all stores have in common, without a hint where to look.
 *
 * <p>Of a store that must be clean, a failure that no finding explains is a false alarm.
 *
 * @param parts the kinds of crash that show it
 * @param sign a pattern that occurs in the operation that was not durable, or behind which the
 *     process died
 * @param what in one sentence
 */
record Finding(
    Example store, Set<Part> parts, Pattern sign, String what, Judgement judgement, Rank rank) {
  /** How a finding is told. */
  enum Judgement {
    BUG("a bug: its documents promise otherwise"),
    OUTSIDE("outside its promises"),
    UNUSUAL("only where sectors are not kept whole, or writes and names not in order");

    private final String text;

    Judgement(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  /** Whether a run has to find it. */
  enum Rank {
    /** It was known before this framework could see it, from a recorder of its own. */
    FIRST,
    /** This framework found it, and must find it again. */
    BEYOND,
    /** It is expected. A run may miss it, because only a few moments show it. */
    RARE
  }

  /** The lines of a story that name an operation, and its fate. */
  private static final Pattern OPERATION =
      Pattern.compile(
          "^(?:lost|torn, [^:]*|its (?:size|zeros) lost|lost but for its (?:size|zeros)"
              + "|the old name not gone|the new name lost|there, and nothing after it): (.*)$",
          Pattern.MULTILINE);

  private static final Set<Part> POWER_CUTS =
      Set.of(Part.ORDERED, Part.SECTORS, Part.GARBAGE, Part.SIZE_FIRST, Part.NAMES, Part.STRICT);
  private static final Set<Part> ALL = Set.of(Part.values());
  private static final Set<Part> TORN =
      Set.of(Part.SECTORS, Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT);
  private static final Set<Part> LOST_NAMES = Set.of(Part.NAMES, Part.STRICT);

  static final List<Finding> KNOWN =
      List.of(
          new Finding(
              Example.MAPDB,
              Set.of(Part.DEATH),
              Pattern.compile("write map\\.db"),
              "a process that dies in a commit leaves a file that cannot be read",
              Judgement.BUG,
              Rank.FIRST),
          new Finding(
              Example.MVSTORE,
              TORN,
              Pattern.compile("write store\\.mv"),
              "a torn chunk is taken for a whole one, or the header for none",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.XODUS,
              Set.of(Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("write 00000000000\\.xd"),
              "a torn tail of the log is read",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.TUPL,
              Set.of(Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("write db\\.redo"),
              "a torn record of the redo log is replayed",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.ECLIPSESTORE,
              Set.of(Part.ORDERED),
              Pattern.compile("channel_0"),
              "no file is ever forced: a power cut takes back what was stored",
              Judgement.OUTSIDE,
              Rank.FIRST),
          new Finding(
              Example.MVSTORE,
              LOST_NAMES,
              Pattern.compile("create store\\.mv"),
              "the directory is never forced: the whole file may be gone",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.LEVELDB,
              LOST_NAMES,
              Pattern.compile("create MANIFEST"),
              "the directory is never forced: CURRENT may name a file that is gone",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.LMDB,
              LOST_NAMES,
              Pattern.compile("create data\\.mdb"),
              "the directory is never forced: the whole file may be gone",
              Judgement.UNUSUAL,
              Rank.FIRST),
          new Finding(
              Example.KAFKA,
              LOST_NAMES,
              Pattern.compile("create directory pairs-0"),
              "the name of a new partition's directory is not forced: all of it may be gone",
              Judgement.UNUSUAL,
              Rank.BEYOND),
          new Finding(
              Example.RATIS,
              Set.of(Part.ORDERED, Part.SECTORS, Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("write group/current/log_inprogress"),
              "a write that was cut short makes the log unreadable under the default policy",
              Judgement.OUTSIDE,
              Rank.BEYOND),
          new Finding(
              Example.RATIS,
              LOST_NAMES,
              Pattern.compile("create group/current/log_inprogress_0"),
              "the directory is never forced: segments may be gone",
              Judgement.UNUSUAL,
              Rank.BEYOND),
          new Finding(
              Example.ROCKSDB,
              LOST_NAMES,
              Pattern.compile("create (MANIFEST-|\\d+\\.sst)"),
              "a name is forced only behind the rename of CURRENT: it may name a manifest, or that"
                  + " one a table, that is gone",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.LUCENE,
              LOST_NAMES,
              Pattern.compile("create _|delete (segments)?_"),
              "a new or deleted name is not forced before the names that depend on it: a segments"
                  + " file may name segments that are gone",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.MAPDB,
              POWER_CUTS,
              Pattern.compile("(write|create) map\\.db"),
              "a power cut damages it as the death of a process does",
              Judgement.BUG,
              Rank.RARE),
          new Finding(
              Example.MVSTORE,
              Set.of(Part.ORDERED, Part.NAMES),
              Pattern.compile("write store\\.mv 0\\+8192"),
              "a creation that a power cut interrupts leaves a file that cannot be opened; nothing"
                  + " was committed yet",
              Judgement.OUTSIDE,
              Rank.RARE),
          new Finding(
              Example.TUPL,
              Set.of(Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("write db\\.db 0\\+"),
              "the first page of a new file is zeros; nothing was committed yet",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.LEVELDB,
              Set.of(Part.SECTORS, Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("(write|truncate) MANIFEST-000001"),
              "the manifest of a new database is torn; nothing was committed yet",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.LEVELDB,
              LOST_NAMES,
              Pattern.compile("create \\d+\\.(log|sst)|rename .* to CURRENT"),
              "the directory is never forced: a log, a table or CURRENT may be gone",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.LEVELDB,
              Set.of(Part.GARBAGE),
              Pattern.compile("write \\d+\\.log"),
              "a sector of the log is written again with each record, so garbage in it takes records"
                  + " that were forced",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.LMDB,
              Set.of(Part.GARBAGE),
              Pattern.compile("write data\\.mdb"),
              "a page with the root has no checksum, so garbage in it is believed",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.BERKELEYDB,
              ALL,
              Pattern.compile("(write|create) 00000000\\.jdb"),
              "a creation that was interrupted leaves a log without a root, which cannot be opened;"
                  + " nothing was committed yet, and its message says what to do",
              Judgement.OUTSIDE,
              Rank.RARE),
          new Finding(
              Example.BERKELEYDB,
              LOST_NAMES,
              Pattern.compile("create 00000000\\.jdb"),
              "the directory is never forced: the whole file may be gone",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.ECLIPSESTORE,
              ALL,
              Pattern.compile("PersistenceTypeDictionary|channel_0"),
              "a creation that was interrupted leaves files that cannot be opened; nothing was"
                  + " stored yet",
              Judgement.OUTSIDE,
              Rank.RARE),
          new Finding(
              Example.DERBY,
              Set.of(Part.GARBAGE, Part.SIZE_FIRST, Part.STRICT),
              Pattern.compile("write (db|begun)/seg0/"),
              "a page that is torn while its table grows is not repaired: the database does not start",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.DERBY,
              LOST_NAMES,
              Pattern.compile("create |rename |delete "),
              "the directories of a new database are not forced: tables have files without names",
              Judgement.UNUSUAL,
              Rank.RARE),
          new Finding(
              Example.CHRONICLE_QUEUE,
              POWER_CUTS,
              Pattern.compile("\\.cq4"),
              "a message whose header is on the disk is taken for a whole one, because messages have"
                  + " no checksum",
              Judgement.OUTSIDE,
              Rank.RARE));

  /** In one line. */
  String text() {
    return store.title() + ": " + what + " (" + judgement.text() + ")";
  }

  /** Whether a run has to find it, if there is time. */
  boolean isRequired() {
    return rank != Rank.RARE;
  }

  /** The failures that show it, the first one first. */
  Stream<Failure> in(List<Row> rows) {
    return rows.stream()
        .filter(row -> row.store() == store && parts.contains(row.part()) && row.isFinding())
        .flatMap(row -> row.outcome().failures().stream())
        .filter(this::shows);
  }

  /** Whether one of the operations of a failure has the sign. */
  private boolean shows(Failure failure) {
    return operations(failure).stream().anyMatch(this::isIts)
        || Stream.concat(Stream.of(failure.title()), failure.also().stream()).anyMatch(this::isIts);
  }

  /**
   * Whether a failure is nothing else: <em>each</em> operation that has to be lost for it has the
   * sign. A failure without a story is never explained.
   */
  boolean explains(Row row, Failure failure) {
    List<String> operations = operations(failure);
    return row.store() == store
        && parts.contains(row.part())
        && !operations.isEmpty()
        && operations.stream().allMatch(this::isIts);
  }

  private boolean isIts(String text) {
    return sign.matcher(text).find();
  }

  private static List<String> operations(Failure failure) {
    return OPERATION.matcher(failure.story()).results().map(found -> found.group(1)).toList();
  }
}
