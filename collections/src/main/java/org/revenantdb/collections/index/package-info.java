/**
 * How secondary indexes are kept, built and found again. The {@code README.md} of the module has
 * the protocol. Reading order: {@code IndexShape}, {@code Maintained} (one row), {@code
 * IndexCatalog} (what is stored of an index), {@code TableIndexes} (declared and undeclared ones),
 * {@code IndexBuild}.
 */
package org.revenantdb.collections.index;
