package org.revenantdb.engine.catalog;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SequenceRow;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.engine.version.StoredValue;
import org.revenantdb.latch.PatientLock;

/**
 * The sequences of a database: rows of the catalogue behind those of the tables.
 *
 * <p>One record, with its row, creates a sequence (protocols.md §21). Thread-safe; everything
 * except {@link #createdAt} inside the gate.
 */
public final class Sequences {
  private static final int CREDIT = Split.CREDIT + 8 * 1024;

  /** Credit for pages: the splits and the leaf. */
  private static final int PAGES = Split.PAGES + 1;

  private final CatalogueOwner owner;
  private final Storage storage;
  private final Catalog catalog;
  private final Tree tree;
  private final Map<String, Sequence> byName = new ConcurrentHashMap<>();

  /** Held to read the catalogue, and to create: so a sequence that is found has its LSN below. */
  private final PatientLock creating = new PatientLock();

  /** Used under {@link #creating}. */
  private final CatalogueTools tools;

  private volatile long createdAt;

  /** Makes an object for the sequences in a catalogue. */
  public Sequences(CatalogueOwner owner, Catalog catalog) {
    this.owner = owner;
    this.storage = owner.storage();
    this.tools = CatalogueTools.of(storage);
    this.catalog = catalog;
    this.tree = catalog.tree();
  }

  /**
   * The position up to which the log must be durable before a caller learns of the sequences that
   * were found so far (R10).
   */
  public long createdAt() {
    return createdAt;
  }

  /** A sequence, or null if there is none of this name. */
  public @Nullable Sequence find(String name) {
    Sequence known = byName.get(name);
    if (known != null) {
      return known;
    }
    byte[] key = key(name);
    creating.lock();
    try {
      return load(name, key);
    } finally {
      creating.unlock();
    }
  }

  /** A sequence of this name; it is created with these options unless there is one. */
  public Sequence findOrCreate(String name, SequenceOptions options) {
    byte[] key = key(name);
    creating.lock();
    try {
      Sequence found = load(name, key);
      if (found != null) {
        return found;
      }
      return create(name, key, options);
    } finally {
      creating.unlock();
    }
  }

  /** A new sequence of this name, with these options; null if there is one. */
  public @Nullable Sequence createNew(String name, SequenceOptions options) {
    byte[] key = key(name);
    creating.lock();
    try {
      return load(name, key) == null ? create(name, key, options) : null;
    } finally {
      creating.unlock();
    }
  }

  /** Under {@link #creating}. */
  private Sequence create(String name, byte[] key, SequenceOptions options) {
    createdAt = insert(key, ApiAccess.api().row(options));
    return remember(name, key, options);
  }

  /** The names of all sequences, in order. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    creating.lock();
    try {
      catalog.forEach(
          SequenceRow.firstKey(),
          null,
          (key, row) -> names.add(new String(SequenceRow.name(key), StandardCharsets.UTF_8)));
    } finally {
      creating.unlock();
    }
    return names;
  }

  private @Nullable Sequence load(String name, byte[] key) {
    Sequence known = byName.get(name);
    if (known != null) {
      return known;
    }
    StoredValue row = owner.reader().read(tree, key, new Reading(Long.MAX_VALUE));
    if (row == null) {
      return null;
    }
    String problem = SequenceRow.problem(row.bytes());
    if (problem != null) {
      throw storage.pool().damage(Catalog.ROOT, "sequence " + name + " " + problem);
    }
    return remember(name, key, ApiAccess.api().sequenceOptions(row.bytes()));
  }

  private Sequence remember(String name, byte[] key, SequenceOptions options) {
    SequenceMark mark = new SequenceMark(storage, tree, key, options.cacheSize());
    Sequence sequence = owner.sequence(name, options, mark);
    byName.put(name, sequence);
    return sequence;
  }

  private long insert(byte[] key, byte[] row) {
    byte[] cell = LeafCell.build(key, 0, 0, row);
    BufferPool pool = storage.pool();
    MiniTransaction mini = tools.mini();
    storage.space().acquire(CREDIT, PAGES);
    try {
      int leaf = tools.split().leafWithRoom(tree, key, cell.length + Slotted.LEAF_SLOT);
      try {
        mini.begin(0);
        PageOps.insert(mini.change(leaf), -SlottedSearch.search(pool.page(leaf), key) - 1, cell);
        mini.end();
        return mini.commit();
      } finally {
        pool.unfixExclusive(leaf);
      }
    } finally {
      storage.space().release(CREDIT, PAGES);
    }
  }

  private static byte[] key(String name) {
    return SequenceRow.key(Names.utf8("a sequence", name, SequenceRow.MAX_NAME));
  }
}
