package org.revenantdb.engine.catalog;

import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.version.RowReader;
import org.revenantdb.engine.version.Storage;

/** The parts of the engine that the catalogue needs. */
public interface CatalogueOwner {
  /** Pages, log and transactions. */
  Storage storage();

  /** Reads rows. */
  RowReader reader();

  /** Certifies serializable transactions. */
  Certifier certifier();

  /** Options of the database. */
  DatabaseOptions options();

  /** Makes the API object of a sequence. */
  Sequence sequence(String name, SequenceOptions options, SequenceMark mark);

  /** The conflict with an open transaction that is changing the table of a name. */
  ConflictException inUse(String name, NameChange change);
}
