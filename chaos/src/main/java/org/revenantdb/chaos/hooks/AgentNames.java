package org.revenantdb.chaos.hooks;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.hooks.Names.Node;
import org.revenantdb.chaos.hooks.OpenFiles.Opened;

/**
 * Records what calls do to names: openings, creations, deletions, renames, links. The tape gets the
 * operation before the call, the tree of names changes behind it.
 *
 * <p>Threads: under the lock of the {@link Journal}.
 */
final class AgentNames {

  private final Journal journal;
  private final Entries entries;
  private final KnownDirectory directory;

  AgentNames(Journal journal, Entries entries, KnownDirectory directory) {
    this.journal = journal;
    this.entries = entries;
    this.directory = directory;
  }

  private RootPaths paths() {
    return directory.paths();
  }

  private Names names() {
    return directory.names();
  }

  /** Notes something that the trace cannot have. */
  void gap(BegunCall begun, String path, String what) {
    byte[] text = what.getBytes(StandardCharsets.UTF_8);
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    entries.gap(begun.by.thread(), begun.stack, text, bytes, bytes.length);
  }

  // ---- before the call

  void opening(BegunCall begun) {
    find(begun);
    if (begun.flags != 0) { // as with hooks, openings that change nothing are not recorded
      beginOpening(begun);
    }
  }

  /** The creation of a file by a path that is not relative to the directory. */
  void creating(BegunCall begun) {
    begun.flags = Tape.CREAT;
    begun.path = paths().below(begun.path);
    opening(begun);
  }

  /** Looks up the file before the call, because afterwards one may have been created. */
  void find(BegunCall begun) {
    begun.node = names().find(begun.path);
    if (begun.node == null && Files.exists(paths().real(begun.path), LinkOption.NOFOLLOW_LINKS)) {
      unknown(begun);
    }
  }

  private void unknown(BegunCall begun) {
    gap(begun, paths().shown(begun.path), "a file was opened whose name the record does not know");
  }

  void beginOpening(BegunCall begun) {
    byte[] path = paths().shown(begun.path).getBytes(StandardCharsets.UTF_8);
    Node node = begun.node;
    begun.record =
        entries.opening(
            begun.by.thread(),
            begun.stack,
            path,
            path.length,
            begun.flags,
            node != null,
            node == null ? 0 : node.size());
  }

  /**
   * Writes an operation on one name, or on two.
   *
   * @param kind as on the tape
   */
  void naming(BegunCall begun, int kind) {
    String text =
        begun.other.isEmpty()
            ? paths().inTrace(begun.path)
            : paths().inTrace(begun.path) + "\0" + paths().inTrace(begun.other);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    Tape tape = journal.tape();
    begun.record = tape.begin(kind, 0, bytes.length, begun.by.thread(), begun.stack);
    if (begun.record != 0) {
      tape.put(begun.record, 0, bytes, bytes.length);
      tape.publish(begun.record, journal.clock().incrementAndGet());
    }
  }

  // ---- behind a call that succeeded

  void opened(BegunCall begun, long number) {
    if (begun.node == null) {
      if ((begun.flags & Tape.CREAT) == 0) {
        unknown(begun); // it has no name, or one that was made by other means
      }
      created(begun, begun.path, /* isDirectory= */ false);
    } else if (begun.record != 0) {
      journal.tape().set(begun.record, Tape.A, begun.node.number());
      if ((begun.flags & Tape.TRUNC) != 0) {
        begun.node.size(0);
        directory.pages().zeroed(begun.node, 0);
      }
    }
    directory.open().put(number, new Opened(begun.node(), begun.path, begun.append, begun.sync));
  }

  void created(BegunCall begun) {
    created(begun, begun.path, /* isDirectory= */ false);
  }

  void directoryCreated(BegunCall begun) {
    created(begun, paths().below(begun.path), /* isDirectory= */ true);
  }

  private void created(BegunCall begun, String below, boolean isDirectory) {
    Node made = names().create(below, isDirectory);
    begun.node = made;
    if (begun.record != 0) {
      journal.tape().set(begun.record, Tape.A, made.number());
    }
  }

  void deleted(BegunCall begun) {
    names().remove(paths().below(begun.path));
  }

  void renamed(BegunCall begun) {
    Node node = named(begun.path);
    Node replaced = named(begun.other);
    if (node == null || node == replaced) {
      return; // if they are two names of one file, nothing happens
    }
    names().remove(paths().below(begun.path));
    if (paths().isInside(begun.other)) {
      names().put(paths().below(begun.other), node);
    }
  }

  void linked(BegunCall begun) {
    Node node = named(begun.path);
    if (node != null && paths().isInside(begun.other)) {
      names().put(paths().below(begun.other), node);
    }
  }

  /** What an absolute path names; null if it is elsewhere, or unknown. */
  private @Nullable Node named(String path) {
    return paths().isInside(path) ? names().find(paths().below(path)) : null;
  }
}
