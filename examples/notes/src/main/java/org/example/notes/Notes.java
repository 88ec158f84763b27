package org.example.notes;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Index;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Row;
import org.revenantdb.collections.Tuple2;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * What a window with notes shows and changes. Thread-safe, so a window can save and make a backup
 * in the background.
 */
public final class Notes implements AutoCloseable {
  /** What a power cut may take of the text that is being typed. A killed process loses nothing. */
  private static final Duration AUTOSAVE = Duration.ofSeconds(1);

  /** What is typed within this time is one step of undo. */
  private static final Duration ONE_STEP = Duration.ofSeconds(30);

  private static final int STEPS = 100;

  /** No word has this character, and it is behind all others. */
  private static final String LAST = Character.toString(Character.MAX_CODE_POINT);

  private final Database db;
  private final InstantSource clock;
  private final Sequence ids;
  private final TypedTable<Long, Note> notes;
  private final Index<String, Long, Note> byTag;
  private final Index<String, Long, Note> byWord;
  private final Index<Tuple2<Boolean, Instant>, Long, Note> byTime;
  private final TypedTable<Long, Step> steps;
  private final TypedTable<String, String> settings;

  /**
   * Opens the notes of a directory, and creates it if there is none.
   *
   * @throws NotesInUseException if the application runs already
   */
  public static Notes open(Path directory) {
    try {
      Database db =
          Database.open(directory, DatabaseOptions.defaults().withMaxLazyDelay(AUTOSAVE));
      return new Notes(db, InstantSource.system());
    } catch (StorageException refused) {
      if (refused.reason() == StorageException.Reason.LOCKED) {
        throw new NotesInUseException(directory, refused);
      }
      throw refused; // its message says what is wrong and what to do
    }
  }

  /** Notes of a database, which {@link #close} closes. */
  Notes(Database db, InstantSource clock) {
    this.db = db;
    this.clock = clock;
    ids = db.getOrCreateSequence("note ids");
    notes = TypedTable.open(db, "notes", Keys.longs(), Codecs.records(Note.class));
    byTag = notes.index("by tag", Index.multi(Keys.strings(), Note::tags));
    byWord = notes.index("by word", Index.multi(Keys.strings(), Note::words));
    byTime =
        notes.index(
            "by time",
            Index.of(
                Keys.tuple(Keys.booleans(), Keys.instants()),
                note -> Tuple2.of(note.pinned(), note.modified())));
    steps = TypedTable.open(db, "steps", Keys.longs(), Codecs.records(Step.class));
    settings = TypedTable.open(db, "settings", Keys.strings(), Codecs.strings());
  }

  /** Adds a note. When this returns, no power cut takes it. */
  public long add(String title, String text, List<String> tags) {
    long id = ids.next();
    Note note = new Note(title, text, tags, /* pinned= */ false, clock.instant());
    db.run(tx -> {
      remember(tx, new Step(id, null, note.modified()));
      notes.put(tx, id, note);
    });
    return id;
  }

  /** Changes a note, if it is there. When this returns, no power cut takes the change. */
  public boolean change(long id, UnaryOperator<Note> change) {
    return db.call(tx -> {
      Note before = notes.get(tx, id);
      if (before == null) {
        return false;
      }
      Instant now = clock.instant();
      remember(tx, new Step(id, before, now));
      notes.put(tx, id, change.apply(before).modifiedAt(now));
      return true;
    });
  }

  /**
   * Saves what is being typed. It does not wait for the disk, so it can be called with each key. A
   * power cut takes a second of it at most.
   */
  public boolean type(long id, String text) {
    return db.call(TransactionOptions.lazy(), tx -> {
      Note before = notes.get(tx, id);
      if (before == null) {
        return false;
      }
      Instant now = clock.instant();
      Row<Long, Step> last = steps.scan(tx).descending().first();
      boolean goesOn =
          last != null
              && last.value().note() == id
              && last.value().before() != null
              && now.isBefore(last.value().since().plus(ONE_STEP));
      if (!goesOn) {
        remember(tx, new Step(id, before, now));
      }
      notes.put(tx, id, before.withText(text).modifiedAt(now));
      return true;
    });
  }

  /** Returns when no power cut can take anything that was typed. */
  public void save() {
    db.sync();
  }

  public boolean delete(long id) {
    return db.call(tx -> {
      Note before = notes.remove(tx, id);
      if (before != null) {
        remember(tx, new Step(id, before, clock.instant()));
      }
      return before != null;
    });
  }

  /** Stores a step in the transaction of its change: both are there, or neither is. */
  private void remember(Transaction tx, Step step) {
    Row<Long, Step> last = steps.scan(tx).descending().first();
    long number = last == null ? 1 : last.key() + 1;
    steps.put(tx, number, step);
    steps.delete(tx, number - STEPS);
  }

  /**
   * Takes the last change back, also one that was made before the application was closed.
   *
   * @return the note that was changed; 0 if there is nothing to take back
   */
  public long undo() {
    return db.call(tx -> {
      Row<Long, Step> last = steps.scan(tx).descending().first();
      if (last == null) {
        return 0L;
      }
      Step step = last.value();
      if (step.before() == null) {
        notes.delete(tx, step.note());
      } else {
        notes.put(tx, step.note(), step.before());
      }
      steps.delete(tx, last.key());
      return step.note();
    });
  }

  /** A note; null if it was deleted. */
  public Note get(long id) {
    return db.read(tx -> notes.get(tx, id));
  }

  /** The notes at the top of the window: pinned ones, then those that were changed last. */
  public List<Row<Long, Note>> list(int most) {
    return db.read(tx -> byTime.scan(tx).descending().limit(most).stream().toList());
  }

  public List<Row<Long, Note>> withTag(String tag) {
    return db.read(tx -> byTag.scan(tx).equalTo(tag).stream().toList());
  }

  /** The notes that have a word beginning with each word of the query. */
  public List<Row<Long, Note>> search(String query) {
    return db.read(tx -> {
      Set<Long> found = null;
      for (String word : Note.words(query)) {
        Set<Long> some =
            byWord.scan(tx).atLeast(word).lessThan(word + LAST).keys().collect(Collectors.toSet());
        if (found == null) {
          found = new HashSet<>(some);
        } else {
          found.retainAll(some);
        }
      }
      return found == null
          ? List.of()
          : notes.getAll(tx, found).entrySet().stream()
              .map(row -> new Row<>(row.getKey(), row.getValue()))
              .toList();
    });
  }

  public void set(String setting, String value) {
    db.run(TransactionOptions.lazy(), tx -> settings.put(tx, setting, value));
  }

  public String setting(String setting, String otherwise) {
    String value = db.read(TransactionOptions.lazy(), tx -> settings.get(tx, setting));
    return value == null ? otherwise : value;
  }

  /** Writes all notes as Markdown, as they are at one moment. */
  public void export(Path file) throws IOException {
    try (Writer out = Files.newBufferedWriter(file)) {
      db.readThrowing(tx -> {
        try (Stream<Row<Long, Note>> rows = byTime.scan(tx).descending().stream()) {
          for (var row : (Iterable<Row<Long, Note>>) rows::iterator) {
            Note note = row.value();
            out.write("# " + note.title() + "\n\n");
            out.write(note.text() + "\n\n");
            if (!note.tags().isEmpty()) {
              out.write("Tags: " + String.join(", ", note.tags()) + "\n\n");
            }
          }
        }
        return null;
      });
    }
  }

  /**
   * Makes a full copy of the notes, with settings and steps of undo, while they are in use.
   *
   * @param target a file, or a directory if its name does not end with {@value Backups#ENDING}
   * @param goesOn receives the progress; false ends the backup
   * @throws java.util.concurrent.CancellationException if it was ended so; then there is no copy
   */
  public void backup(Path target, Predicate<BackupProgress> goesOn) throws IOException {
    backup(target, BackupOptions.defaults().withListener(goesOn));
  }

  void backup(Path target, BackupOptions options) throws IOException {
    if (Backups.isFile(target)) {
      Backups.write(target, out -> db.backup(out, options));
    } else {
      db.backup(target, options);
    }
  }

  /** What is wrong with the indexes; nothing, unless there is a bug. */
  List<String> problems() {
    return db.read(tx ->
        Stream.of(byTag, byWord, byTime).flatMap(index -> index.check(tx).stream()).toList());
  }

  /** Saves what was typed. */
  @Override
  public void close() {
    db.close();
  }
}
