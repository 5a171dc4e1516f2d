/* The records of a run. `strip` has a letter for each of the last runs, and `.` if the record was not in a run. */
const records = index.rows.map(([address, title, letter, tags, age, strip, ms, facetIds]) => {
  const [outcome, outcomeWord] = index.outcomes[letter];
  return { address, title, outcome, outcomeWord, tags, age, strip, ms, facetIds };
});
const recordByAddress = new Map(records.map((record) => [record.address, record]));
