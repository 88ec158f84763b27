package org.revenantdb.chaos.examples;

import java.util.List;
import java.util.Set;

/**
 * Something that is known about a store, and that a run must find unaided: by the work that all
 * stores have in common, without a hint where to look.
 *
 * @param parts the kinds of crash that show it
 * @param sign a text in the story of the failure: the operation that was not durable, or the place
 * @param what in one sentence
 */
record Finding(Example store, Set<Part> parts, String sign, String what, Judgement judgement) {
  /** How a finding is told. */
  enum Judgement {
    BUG("a bug: its documents promise otherwise"),
    OUTSIDE("outside its promises"),
    UNUSUAL("only where the file system does not keep writes or names in order");

    private final String text;

    Judgement(String text) {
      this.text = text;
    }
  }

  static final List<Finding> KNOWN =
      List.of(
          new Finding(
              Example.MAPDB,
              Set.of(Part.DEATH),
              "write map.db",
              "a process that dies in a commit leaves a file that cannot be read",
              Judgement.BUG),
          new Finding(
              Example.MVSTORE,
              Set.of(Part.SIZE_FIRST, Part.SECTORS, Part.STRICT),
              "write store.mv",
              "a torn chunk is taken for a whole one, or the header for none",
              Judgement.UNUSUAL),
          new Finding(
              Example.XODUS,
              Set.of(Part.SIZE_FIRST, Part.STRICT),
              "write 00000000000.xd",
              "a torn tail of the log is read",
              Judgement.UNUSUAL),
          new Finding(
              Example.TUPL,
              Set.of(Part.SIZE_FIRST, Part.STRICT),
              "write db.redo",
              "a torn record of the redo log is replayed",
              Judgement.UNUSUAL),
          new Finding(
              Example.ECLIPSESTORE,
              Set.of(Part.ORDERED),
              "channel_0",
              "no file is ever forced: a power cut takes back what was stored",
              Judgement.OUTSIDE),
          new Finding(
              Example.MVSTORE,
              Set.of(Part.NAMES, Part.STRICT),
              "create store.mv",
              "the directory is never forced: the whole file may be gone",
              Judgement.UNUSUAL),
          new Finding(
              Example.LEVELDB,
              Set.of(Part.NAMES, Part.STRICT),
              "MANIFEST",
              "the directory is never forced: CURRENT may name a file that is gone",
              Judgement.UNUSUAL),
          new Finding(
              Example.LMDB,
              Set.of(Part.NAMES, Part.STRICT),
              "create data.mdb",
              "the directory is never forced: the whole file may be gone",
              Judgement.UNUSUAL),
          new Finding(
              Example.KAFKA,
              Set.of(Part.NAMES, Part.STRICT),
              "create directory pairs-0",
              "the name of a new partition's directory is not forced: all of it may be gone",
              Judgement.UNUSUAL),
          new Finding(
              Example.RATIS,
              Set.of(Part.ORDERED, Part.SECTORS, Part.SIZE_FIRST, Part.STRICT),
              "write group/current/log_inprogress",
              "a write that was cut short makes the log unreadable under the default policy",
              Judgement.OUTSIDE),
          new Finding(
              Example.RATIS,
              Set.of(Part.NAMES, Part.STRICT),
              "create group/current/log_inprogress_0",
              "the directory is never forced: segments may be gone",
              Judgement.UNUSUAL));

  /** In one line. */
  String text() {
    return store.title() + ": " + what + " (" + judgement.text + ")";
  }

  /** Whether a run has shown it. */
  boolean isIn(List<Row> rows) {
    return rows.stream()
        .filter(row -> row.store() == store && parts.contains(row.part()) && row.isFinding())
        .flatMap(row -> row.outcome().failures().stream())
        .anyMatch(failure ->
            failure.story().contains(sign)
                || failure.title().contains(sign)
                || failure.also().stream().anyMatch(also -> also.contains(sign)));
  }
}
